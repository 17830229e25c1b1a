/** The handlers of the two zip forms at paths of their own, on the data directory of a server that runs: a session there is a
 *  session here. */
import { createDomains } from "../../src/domains/index.ts";
import { createPool } from "../../src/deploy/pool.ts";
import { errorJson } from "../../src/http/answers.ts";
import { Exchange, pathOf } from "../../src/http/exchange.ts";
import { requestReader, type RequestReader } from "../../src/http/context.ts";
import { limiter } from "../../src/http/rate-limit.ts";
import { asRefusal } from "../../src/base/errors.ts";
import type { Route } from "../../src/routes/context.ts";
import { createSiteByForm, redeployByForm } from "../../src/routes/deploys/deploy.ts";
import { createApi } from "../../src/routes/index.ts";
import { inFlight } from "../../src/routes/deploys/request.ts";
import { openRates } from "../../src/store/sqlite/rates.ts";
import { secretFiles } from "../../src/store/index.ts";
import { commentParts } from "../../src/server/own-paths.ts";
import type { TestServer } from "../kit/server.ts";

const ROWS: readonly Route[] = [
  ["POST", "/form", createSiteByForm, "file_form"],
  [
    "POST",
    "/form/:id",
    async (ctx) => {
      const { site, version_id, changed } = await redeployByForm(ctx);
      return { site_id: site.site_id, version_id, changed };
    },
    "file_form",
  ],
];

export interface FormServer {
  port: number;
  /** The origin of the forms' own pages. */
  origin: string;
  stop(): Promise<void>;
}

export function serveForms({ data_dir, address, running, now }: TestServer): FormServer {
  const { config, store } = running;
  const { max_files, max_bytes, max_zip_bytes } = config;
  const limits = { max_files, max_bytes, max_zip_bytes };
  const rates = openRates(data_dir, now);
  const [limit, secrets] = [limiter(rates, config), secretFiles.read(data_dir)];
  const never = () => Promise.reject(new Error("these forms know no comments"));
  const pool = createPool({ ...address, limits, now, log: { error: () => {} } });
  const serve = (base_url: string) =>
    createApi(
      {
        config: { ...config, base_url },
        store,
        pool,
        code: async () => undefined,
        uploads: inFlight("uploads", max_zip_bytes),
        writes: inFlight("requests"),
        limit,
        secrets,
        spendOnce: async () => true,
        now,
        published: () => {},
        explain: never,
        statistics: { read: never },
        domains: createDomains({ config, store, secret: secrets.domains }),
        comments: commentParts({
          config,
          store,
          sites: { live: never },
          rates,
          limit,
          secrets,
          now,
          quote_search: { find: never },
        }),
      },
      ROWS,
    );
  let api: ReturnType<typeof serve>;
  let requests: RequestReader;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    async fetch(request, here) {
      const exchange = new Exchange({
        address: () => here.requestIP(request)?.address ?? null,
        extendTimeout: (seconds) => here.timeout(request, seconds),
        crowded: () => false,
      });
      return api(requests.contextOf(request, exchange), pathOf(request.url)).catch((error) =>
        errorJson(asRefusal(error), exchange),
      );
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  api = serve(origin);
  requests = requestReader({ ...config, base_url: origin });
  return {
    port: server.port!,
    origin,
    async stop() {
      await server.stop(true);
      await pool.stop();
      rates.close();
    },
  };
}

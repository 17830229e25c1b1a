/** The jobs that run by the clock, a row each at the end. What a row is made of comes first, then a section a job. */
import { UNIT_MS } from "../base/units.ts";
import { type Config, isSecure, storeAddress } from "../config/index.ts";
import { bucketAccess } from "../config/shared.ts";
import { siteUrl } from "../http/hosts.ts";
import type { Looked } from "../render/engine.ts";
import type { Log } from "../run/log.ts";
import { type Figure, slotOf } from "../run/metrics.ts";
import { secretFiles, SERVER, type Store } from "../store/index.ts";
import type { Ordered } from "../domains/certificates.ts";
import type { RenderTask } from "../store/renders.ts";
import type { Damage, Figures, Swept } from "../store/upkeep.ts";
import { resolve } from "node:path";
import { type JobChild, startJobChild } from "../run/child.ts";
import { BACKUP_COMMAND, ownCommand } from "../run/program.ts";
import { backupPlaces, type S3Access } from "../store/operations.ts";
import type { BackupAnswer, BackupJob } from "./backup-worker.ts";
import type { DeliveryNews } from "../webhooks/delivery.ts";

/** The things that a job has in the thread. */
interface JobContext<Said> {
  config: Config;
  store: Store;
  /** The service's clock, and this machine's, by which another process opens the store. */
  now(): number;
  machine(): number;
  /** Whether this box still has the turn at this job, for one whose turns are long: else it begins nothing more. */
  goesOn(): boolean;
  /** Hands something to `note`, in the service. */
  say(said: Said): void;
  /** For a write whose outcome is unknown: the process ends, and nothing may be written after it. */
  lost(error: unknown): Promise<never>;
}

export interface StartedJob {
  /** Begins or does what is due. Rejects when it failed: the next turn tries again. */
  turn(): Promise<void>;
  /** In place of a turn, while another box has it: what is this box's own. */
  elsewhere?(): Promise<void>;
  /** Ends what the job has started outside the thread. */
  end?(): Promise<void>;
}

/** The things that a job has in the service. */
export interface JobRecord {
  log: Log;
  figures: Figures;
  now: number;
}

/** One row of the table. Two turns of one job never overlap, turns of different jobs do: a turn waits for networks, files and
 *  processes by `await`, and each comment says so. What it does without one (SQLite, mostly) holds the others up. */
export interface UpkeepJob<Said = unknown> {
  /** Its name in the log. */
  name: string;
  /** Milliseconds between two turns; null when the operator has turned it off. */
  every_ms(config: Config): number | null;
  /** Called in the thread, before the first turn. Loads code that only this job needs. */
  start(context: JobContext<Said>): StartedJob | Promise<StartedJob>;
  /** Called in the service: log lines and figures. */
  note(said: Said, record: JobRecord): void;
  /** Called in the service for each turn that failed; without it the log hears of some of them. */
  failed?(error: unknown, record: JobRecord): void;
}

const MISSING = slotOf("svc_blobs_missing");

/** An error that is thrown is of a thread that could not be started. */
function failedSweep(error: unknown, { log, figures }: JobRecord): void {
  log.error("sweep", error instanceof Error ? `no thread was started: ${String(error)}` : error);
  figures.add(slotOf("svc_sweep_failures_total"), 1);
}

/** Its writes are slices of a few milliseconds with pauses between them, and wait for the lock by `await`. One statement is
 *  as long as the database is large: `quick_check`, 0.5 s for 200 MB. */
const SWEEP: UpkeepJob<Swept> = {
  name: "sweep",
  every_ms: ({ gc_interval }) => gc_interval,
  start({ config, store, now, say }) {
    let before = 0;
    return {
      async turn() {
        const time = now();
        // The earlier of this turn's time and the last one's: what had expired by both has been expired for a whole
        // interval, whatever the clock did in between.
        const sure = Math.min(before, time);
        before = time;
        say(await store.sweep(sure));
        await store.turnSecrets(now());
      },
      elsewhere: async () => say({ sites: 0, blobs: 0, temporary: await store.tidy(now()) }),
    };
  },
  note({ sites, blobs, temporary }, { log, figures, now }) {
    const add = (figure: Figure, amount: number) => figures.add(slotOf(figure), amount);
    if (sites + blobs > 0) log.event(`swept ${sites} expired sites and ${blobs} orphaned files`);
    if (temporary > 0) log.event(`swept ${temporary} temporary files of processes that died`);
    add("svc_sweeps_total", 1);
    add("svc_swept_sites_total", sites);
    add("svc_swept_blobs_total", blobs);
    figures.set(slotOf("svc_last_sweep_timestamp_seconds"), now / 1000);
  },
  failed: failedSweep,
};

/** Reads files by `await`, one after the other. */
const VERIFY: UpkeepJob<{ damages: Damage[]; missing: number | null }> = {
  name: "verify",
  every_ms: ({ gc_interval }) => gc_interval,
  start: ({ config, store, say }) => ({
    async turn() {
      // Blobs that are known to be missing (by this job, the start or an operator) are looked for until they are there.
      const incomplete = store.figures.get(MISSING) > 0;
      const damages = await store.verifyTurn(config.gc_interval);
      const missing = damages.length === 0 && !incomplete ? null : (await store.missingBlobs()).length;
      say({ damages, missing });
    },
  }),
  note({ damages, missing }, { log, figures, now }) {
    figures.set(slotOf("svc_last_verify_timestamp_seconds"), now / 1000);
    if (missing !== null) figures.set(MISSING, missing);
    for (const { sha256, why, losses } of damages) {
      const where = losses.map(({ slug, path }) => `${slug} ${path}`).join(", ");
      log.error(`blob ${why}`, `${sha256}, stored for ${where}`);
    }
  },
  failed: failedSweep,
};

type WebhookNews =
  | { letter: DeliveryNews }
  | { died: string }
  /** `refused`: letters that came when no more of their site could wait, since the last look. */
  | { waiting: number; oldest_s: number; refused: number };

/** Milliseconds between two looks at what waits. */
const LOOK_MS = 10_000;

/** A turn begins deliveries and is over; they wait by `await` for the process that posts, and go on between turns. What is
 *  under way when the thread ends is sent again after the next start, under the same id. */
const WEBHOOKS: UpkeepJob<WebhookNews> = {
  name: "webhooks",
  every_ms: ({ webhooks, notify }) => (webhooks === "on" || notify !== null ? 1000 : null),
  async start({ config, store, now, say, lost }) {
    const { feedSite } = await import("../comments/addresses.ts");
    const { feedDocuments } = await import("../comments/feed.ts");
    const { createDeliveries, postProcess } = await import("../webhooks/delivery.ts");
    const { noticeLetter } = await import("./notices.ts");
    const { webhook: key } = secretFiles.read(config.data_dir);
    const { outbox } = store;
    const posting = postProcess(config.webhooks_allow, (died) => say({ died }));
    const deliveries = createDeliveries({
      outbox,
      post: posting.post,
      letterOf(content) {
        if ("notice" in content) return noticeLetter(config, store, content.notice);
        const { site, webhook, comment, visibility } = content;
        const data = feedDocuments.annotation(feedSite({ config }, site), comment);
        const secret = secretFiles.decrypt(key, webhook.secret, site.site_id);
        return { url: webhook.url, secret, members: { site_id: site.site_id, visibility, data } };
      },
      now,
      heard: (letter) => say({ letter }),
      lost,
    });
    let looked = -Infinity;
    async function look(): Promise<void> {
      if (performance.now() - looked < LOOK_MS) return;
      looked = performance.now();
      const { waiting, oldest } = (await outbox.waiting())!;
      const oldest_s = oldest === null ? 0 : Math.max(0, (now() - Date.parse(oldest)) / 1000);
      say({ waiting, oldest_s, refused: await outbox.takeRefused() });
    }
    return {
      async turn() {
        await deliveries.turn();
        await look();
      },
      async end() {
        await posting.close();
      },
    };
  },
  note(news, { log, figures }) {
    if ("died" in news) return log.error("webhooks", news.died);
    if ("waiting" in news) {
      figures.set(slotOf("svc_webhooks_waiting"), news.waiting);
      figures.set(slotOf("svc_webhooks_oldest_seconds"), news.oldest_s);
      return figures.add(slotOf("svc_webhooks_refused_total"), news.refused);
    }
    const { site_id, id, type, outcome, tries, host, why, told } = news.letter;
    const counted = { recovered: "delivered", ended: "failed" } as const;
    const figure = outcome === "recovered" || outcome === "ended" ? counted[outcome] : outcome;
    const ours = site_id === SERVER;
    figures.add(slotOf(`svc_${ours ? "notices" : "webhooks"}_${figure}_total`), 1);
    if (!told) return;
    const values = { id, type, outcome, tries, host, why };
    if (ours) log.record("notice", values);
    else log.record("webhook", { site_id, ...values });
  },
};

/** Writes down what has happened, and the letters of it; the job above sends them. Nothing in it waits for long. */
const NOTICES: UpkeepJob<never> = {
  name: "notices",
  every_ms: ({ notify }) => (notify === null ? null : 1000),
  async start({ config, store, now }) {
    const { noticing } = await import("./notices.ts");
    return { turn: noticing({ config, store, now }) };
  },
  note() {},
};

/** How often a server looks whether a backup is due, at the longest; and how long it waits after many that failed: each copies
 *  the database anew. */
const BACKUP_LOOK_MS = 60_000;
const BACKUP_PAUSE_MS = 3_600_000;

const backupLook = ({ backup_every }: Config): number => Math.min(backup_every, BACKUP_LOOK_MS);

type BackupNews = Exclude<BackupAnswer, { failed: string }>;

/** Waits by `await` for a process of its own, which reads, hashes and sends. A place that cannot be reached is asked again at
 *  the next turn. */
const BACKUP: UpkeepJob<BackupNews> = {
  name: "backup",
  every_ms: (config) => (config.backup === null ? null : backupLook(config)),
  start({ config, now, machine, say }) {
    const { data_dir, backup, backup_every: every_ms, backup_keep: keep } = config;
    const command = (): string[] => ownCommand(BACKUP_COMMAND, new URL("./backup-entry.ts", import.meta.url));
    let child: JobChild<BackupJob, BackupAnswer> | null = null;
    let last_at = -Infinity;
    let failed = 0;
    let not_before = 0; // by `performance`, which no clock that is set right moves
    return {
      async turn() {
        // A clock that ran ahead may have made the last one.
        if (last_at <= now() && now() < last_at + every_ms) return;
        if (performance.now() < not_before) return;
        const job = {
          address: { ...storeAddress(config), data_dir: resolve(data_dir) },
          place: backupPlaces.namesBucket(backup!) ? backup! : resolve(backup!), // the process has another folder
          access: bucketAccess(config),
          keep,
          every_ms,
          now: machine(),
        };
        child = startJobChild<BackupJob, BackupAnswer>(command(), { calls_out: true });
        try {
          const answer = await child.run(job);
          if ("failed" in answer) throw new Error(answer.failed);
          last_at = answer.at;
          failed = 0;
          say(answer);
        } catch (error) {
          const pause_ms = Math.min(backupLook(config) * 2 ** failed++, BACKUP_PAUSE_MS);
          not_before = performance.now() + pause_ms - backupLook(config) / 2;
          throw error;
        } finally {
          child.kill();
          child = null;
        }
      },
      end: async () => child?.kill(),
    };
  },
  note({ at, taken }, { log, figures }) {
    figures.set(slotOf("svc_last_backup_timestamp_seconds"), at / 1000);
    if (taken === null) return;
    const { name, blobs, sent, sent_bytes, damaged, not_removed } = taken;
    log.event(`backup ${name}: ${blobs} files, ${sent} of them sent now, ${sent_bytes} bytes`);
    if (not_removed !== null) log.error("backup", `the backup is made, but older ones stay: ${not_removed}`);
    for (const sha256 of damaged)
      log.error("backup", `blob ${sha256} is missing or damaged: svc-server verify tells more`);
  },
};

type RenderNews = { looked: Looked; waiting: number } | { sentence: string };

/** Room for two pictures and their rows. */
const PICTURES = { bytes: 1 << 20, files: 2 };

/** The address at which a program of this machine reaches the server. */
function localAddress(config: Config): string {
  const { host, port } = config;
  const anywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1" };
  const name = anywhere[host] ?? (host.includes(":") ? `[${host}]` : host);
  return `${isSecure(config) ? "https" : "http"}://${name}:${port}`;
}

async function engineOf({ config, store, now, say }: JobContext<RenderNews>) {
  const { createEngine } = await import("../render/engine.ts");
  const { data_dir, chrome, sites_domain } = config;
  return createEngine({
    data_dir,
    chrome,
    renders: store.renders,
    siteOf: store.sites.byId,
    addressOf: ({ slug, version_id }: RenderTask) => ({
      url: `${siteUrl(config, slug)}/`,
      version_host: `${version_id}--${slug}.${sites_domain}`,
      server: localAddress(config),
    }),
    hasRoom: () => store.hasRoomFor(PICTURES.bytes, PICTURES.files),
    say: (sentence) => say({ sentence }),
    clock: now,
  });
}

/** A turn lasts until no version waits. It waits by `await` for the process that looks at a page, and 100 ms at most pass
 *  until that process's memory is looked at again. */
const RENDERS: UpkeepJob<RenderNews> = {
  name: "render",
  every_ms: ({ render }) => (render === "off" ? null : 500),
  async start(context) {
    const { store, say, goesOn } = context;
    const engine = await engineOf(context);
    let ending = false;
    let working: Promise<void> = Promise.resolve();

    async function lookAtAll(): Promise<void> {
      while (!ending && goesOn()) {
        const looked = await engine.turn();
        if (looked === null || ending) return;
        if (looked === "again") continue;
        say({ looked, waiting: await store.renders.waiting() });
      }
    }
    return {
      turn: () => (working = lookAtAll()),
      async end() {
        ending = true;
        engine.stop();
        await working.catch(() => {}); // the service hears of it as of any turn
      },
    };
  },
  note(news, { log, figures }) {
    if ("sentence" in news) return log.event(`render: ${news.sentence}`);
    const { site_id, slug, version_id, status, reason, warnings, ms } = news.looked;
    figures.add(slotOf(status === "done" ? "svc_renders_done_total" : "svc_renders_failed_total"), 1);
    figures.set(slotOf("svc_renders_waiting"), news.waiting);
    log.record("render", { site_id, slug, version_id, status, ms, warnings, reason });
  },
};

/** A turn waits by `await` for DNS servers, sixteen names at once. */
const DOMAINS: UpkeepJob<{ domain: string; site_id: string; slug: string }> = {
  name: "domains",
  every_ms: ({ domain_recheck }) => Math.min(domain_recheck, UNIT_MS.m),
  async start({ config, store, now, say }) {
    const { createRecheck } = await import("../domains/index.ts");
    const recheck = createRecheck({ config, store, secret: secretFiles.read(config.data_dir).domains });
    const by = { every: config.domain_recheck, grace: config.domain_grace };
    return {
      async turn() {
        for (const { domain, site_id, slug } of await recheck(now(), by)) say({ domain, site_id, slug });
      },
    };
  },
  note: ({ domain, site_id, slug }, { log }) => log.record("domain_lapsed", { domain, site_id, slug }),
};

const ORDER_MS = 2000;

/** A turn waits by `await` for the certificate authority, and for hosts and hooks as long as it does: five minutes at most for each of
 *  four names. */
const CERTIFICATES: UpkeepJob<Ordered> = {
  name: "certificates",
  every_ms: (config) => (isSecure(config) ? ORDER_MS : null),
  async start({ config, store, now, say }) {
    const { openOrders } = await import("../domains/certificates.ts");
    const turn = await openOrders(config, store, now);
    return {
      async turn() {
        for (const one of await turn()) say(one);
      },
    };
  },
  note(ordered, { log, figures }) {
    if (ordered.left !== undefined) log.error("certificate", `${ordered.name}: ${ordered.left}`);
    if (ordered.error === null) {
      const ends_at = new Date(ordered.ends).toISOString();
      return log.record("certificate", { name: ordered.name, ends_at });
    }
    figures.add(slotOf("svc_certificate_failures_total"), 1);
    log.error("certificate", `${ordered.name}: ${ordered.error}`);
  },
};

/** One box does these for all, where a service has several (SCALE 4). */
export const JOBS: readonly UpkeepJob[] = [SWEEP, VERIFY, WEBHOOKS, NOTICES, RENDERS, DOMAINS, CERTIFICATES, BACKUP];

/** `job` is due, by this clock. After `stop` nothing is begun, and what jobs have started outside the thread is ended. */
export type ToUpkeep = { job: string; now: number } | "stop";

/** One with `error` comes once for each turn. `fatal`: only a restart into recovery can mend it. */
export type FromUpkeep =
  { job: string; said: unknown } | { job: string; error: string | null; fatal: boolean } | "stopped";

/** The paths on every site's host where the service answers, whatever the site holds: a row each, all below /_svc/.
 *  They are there as long as the site is: whoever asks on the host of one that visitors cannot see gets what a page would
 *  get. */
import { type Exchange, pathOf } from "../http/exchange.ts";
import { matcher, type Method } from "../http/match.ts";
import { isService } from "../reserved-paths.ts";
import type { SiteHost } from "../serve/locate.ts";
import type { Site } from "../types.ts";

type SiteHandler = (request: Request, site: Site, exchange: Exchange) => Promise<Response>;
type OwnPath = readonly [method: Method, path: string, handler: SiteHandler];

interface Handlers {
  takeReport: SiteHandler;
}

const tableOf = ({ takeReport }: Handlers): readonly OwnPath[] => [["POST", "/_svc/report", takeReport]];

/** Null where the path is the site's to answer. `shown`: the site of a host, or the refusal that visitors get. */
export function createOwnPaths(handlers: Handlers, shown: (host: SiteHost) => Promise<Site>) {
  const match = matcher(tableOf(handlers));
  return (request: Request, host: SiteHost, exchange: Exchange): Promise<Response> | null => {
    const path = pathOf(request.url);
    if (!isService(path.slice(1))) return null;
    const atPath = match(path);
    if (atPath === null) return null;
    return shown(host).then((site) => {
      const [, , handler] = atPath(request.method).row;
      return handler(request, site, exchange);
    });
  };
}

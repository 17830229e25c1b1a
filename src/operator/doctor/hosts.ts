/** The two hosts that a server is reached by. */
import type { Config } from "../../config/index.ts";
import { randomName } from "../../base/random.ts";

interface Hosts {
  base: string;
  sites: string;
  /** A name below it that nobody made. */
  some_site: string;
}

export function hostsOf({ base_url, sites_domain }: Pick<Config, "base_url" | "sites_domain">): Hosts {
  const sites = sites_domain.split(":", 1)[0]!;
  return { base: new URL(base_url).hostname, sites, some_site: `doctor-${randomName(8)}.${sites}` };
}

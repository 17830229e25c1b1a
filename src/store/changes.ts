/** What changes a site: deploys, rollbacks, a change of hands, and the tokens that open it. */
import type { SignedIn } from "./people.ts";
import type { AskedPage, ListPage } from "./serving.ts";
import type { Scope } from "../base/tokens.ts";
import type { BuiltVersion, Site, TokenKind, Version } from "../base/types.ts";

/** The credential that was accepted before a slow step; it must still hold when the change commits. */
export type WriteBy = { token_hash: string } | SignedIn | Granted;

/** A deploy token, and what it was accepted for. */
export interface Granted {
  deploy_hash: string;
  account_id: string;
  scope: Scope;
}

export interface NewToken {
  hash: string;
  kind: TokenKind;
}

/** Where a deploy goes. */
export type PublishTarget =
  | {
      kind: "new";
      site_id: string;
      /** Null: an anonymous site, which expires. */
      owner: SignedIn | Granted | null;
      expires_at: number | null;
      /** Keyed hash of the network that it counts for; null where it has an owner. */
      network: string | null;
      /** Tried in order until one was never given out. */
      slugs: string[];
      /** `address`: the network that it counts for; with an owner the account. */
      idempotency: { key_hash: string; address: string } | null;
    }
  | { kind: "existing"; site_id: string; by: WriteBy }
  /** Not live: to be looked at, under a name or at the version's own address, for so many milliseconds. */
  | { kind: "preview"; site_id: string; by: WriteBy; name: string | null; ttl: number };

/** What a deploy may take up and leave behind (BEYOND 9); null: no bound. */
export interface Bounds {
  /** Bytes of an account, and of the unowned sites of one network. */
  quota_account: number | null;
  quota_address: number | null;
  /** Versions that a site keeps. */
  keep_versions: number | null;
}

/** What a version would be added to, as far as its quota goes. */
export type Charged = Pick<Site, "site_id" | "site_no" | "owner_account_id" | "network">;

/** Of a version that may be stored: what a quota is asked for. */
export type Admitted = Pick<BuiltVersion, "version_id" | "manifest" | "healed" | "warnings">;

export interface Publish {
  target: PublishTarget;
  version: Pick<
    BuiltVersion,
    | "version_id"
    | "digest"
    | "title"
    | "spa"
    | "files"
    | "bytes"
    | "manifest"
    | "blobs"
    | "healed"
    | "warnings"
    | "suspicions"
  >;
  tokens: NewToken[];
  bounds: Bounds;
  /** The owner's setting that came with the deploy; undefined leaves it as it is. */
  spa_override?: 0 | 1 | null;
  /** A browser shall look at the version. */
  renders?: boolean;
}

export interface Published {
  site: Site;
  version_id: string;
  /** False where the content was live already. */
  changed: boolean;
  /** Of a preview, when it ends: epoch milliseconds. */
  shown_until?: number;
}

export interface Rollback {
  site_id: string;
  by: WriteBy;
  version_id: string;
}

export interface RolledBack {
  site: Site;
  previous_version_id: string;
}

export interface KnownToken {
  site_id: string;
  kind: TokenKind;
  /** The site it was for is gone: the token learns that, and opens nothing. */
  gone: boolean;
}

export interface Tokens {
  /** By the token's hash; null where it never was one. */
  find(hash: string): Promise<KnownToken | null>;
}

export interface Claim {
  site_id: string;
  claim_hash: string;
  by: SignedIn;
  /** Ends the manage_tokens of whoever gave the site away. */
  revoke_manage_tokens?: boolean;
}

export interface Attach {
  site_id: string;
  manage_hash: string;
}
export type NotAttached = "not_found" | "invalid_token" | "already_yours" | "already_owned";
export type NotRemoved = "not_found" | "not_owned";

/** What is undefined stays as it is. */
export interface SiteChange {
  label?: string | null;
  spa_override?: 0 | 1 | null;
}

/** What is undefined stays as it is (BEYOND 0). */
export interface SettingsChange {
  skew?: 0 | 1;
  stats?: 0 | 1;
}

/** Where a site stands in its account's list. */
export type SitePlace = Pick<Site, "created_at" | "site_id">;

/** `deployed`: by when the live version was made. */
export type SiteOrder = "deployed" | "created" | "name";

export interface AskedSites extends AskedPage {
  /** Part of label, slug, site_id or live title, in any case; empty: all sites. */
  q: string;
  sort: SiteOrder;
}

export interface OwnedSite {
  site: Site;
  /** `warned`: how many warnings its deploy was told; 0 where that was not kept. `seen_warned`: how many a browser's look
   *  added. `pictured`: whether it took a picture. */
  live: Pick<Version, "title" | "created_at"> & { warned: number; seen_warned: number; pictured: boolean };
}

export interface Ownership {
  /** Throws `invalid_claim`, `unknown_site` or `already_owned`. */
  claim(claim: Claim): Promise<Site>;
  /** One answer for each, in their order; null: attached. */
  attach(items: readonly Attach[], by: SignedIn): Promise<(NotAttached | null)[]>;
  /** Newest first, from the newest on or from the one behind `after`; at most `limit`. */
  list(account_id: string, page: { limit: number; after: SitePlace | null }): Promise<Site[]>;
  /** By number of page. `total`: all its sites, whatever is looked for. */
  page(account_id: string, asked: AskedSites): Promise<ListPage<OwnedSite> & { total: number }>;
  /** Throws `unknown_site` for a site that is not the account's. */
  change(site_id: string, change: SiteChange, by: SignedIn): Promise<Site>;
  /** By its owner, or by a manage_token while nobody owns it. Throws for a site that takes no change. */
  changeSettings(site_id: string, change: SettingsChange, by: WriteBy): Promise<Site>;
  /** How many previews of the site are shown now. */
  countPreviews(site_id: string): Promise<number>;
  /** Ends all manage_tokens of the site, and says how many there were. Throws `unknown_site` for a site that is not the
   *  account's. */
  revokeTokens(site_id: string, by: SignedIn): Promise<number>;
  /** One answer for each, in their order; null: deleted. */
  remove(site_ids: readonly string[], by: SignedIn): Promise<(NotRemoved | null)[]>;
}

/** What a deploy token is good for, and where (BEYOND 7). */

export const SCOPES = ["read", "preview", "deploy", "create"] as const;
export type Scope = (typeof SCOPES)[number];

/** What its owner made it for. */
export interface DeployGrant {
  account_id: string;
  token_id: string;
  scopes: readonly Scope[];
  /** Null: all sites that the account has, and those that it gets. */
  site_ids: readonly string[] | null;
}

const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ["read"],
  preview: ["read", "preview"],
  deploy: ["read", "preview", "deploy"],
  create: ["create"],
};

export const allows = ({ scopes }: Pick<DeployGrant, "scopes">, needed: Scope): boolean =>
  scopes.some((scope) => INCLUDED[scope].includes(needed));

/** Whether it is for this site, whatever for. */
export const reaches = (
  { account_id, site_ids }: Pick<DeployGrant, "account_id" | "site_ids">,
  { site_id, owner_account_id }: { site_id: string; owner_account_id: string | null },
): boolean => owner_account_id === account_id && (site_ids === null || site_ids.includes(site_id));

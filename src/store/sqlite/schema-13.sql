-- What an address gives beside the live version (BEYOND 4, 7), and what CI signs in with.

-- Epoch milliseconds, of the last time. `live_since` null: only a preview shows it. `live_until` null: it is live, or never
-- was.
alter table versions add column live_since integer;
alter table versions add column live_until integer;
-- The order in which a site's versions went live for the first time: that of its list, and not that of their deploys, for a
-- preview may wait before it does. Null: only a preview shows it.
alter table versions add column listed_no integer;
-- A secret was seen in it: no other version's addresses give a file of it.
alter table versions add column withhold integer not null default 0 check (withhold in (0, 1));

-- Until now nothing said when a version was left: most were left for the next one. Of a version without a receipt, or whose
-- receipt has not all that was said, nobody knows whether a secret was seen.
update versions set
  live_since = cast(round((julianday(created_at) - 2440587.5) * 86400000) as integer),
  listed_no = version_no,
  withhold = not exists (select 1 from receipts where receipts.version_no = versions.version_no
    and left_out = 0 and receipts.warnings not like '%"possible_secret"%');
update versions set live_until = coalesce(
    (select live_since from versions as later where later.site_id = versions.site_id
       and later.version_no > versions.version_no order by later.version_no limit 1), live_since)
  where version_id is not (select live_version_id from sites where sites.site_id = versions.site_id);
drop index versions_by_site;
create index versions_by_site on versions (site_id, listed_no);
create index versions_left on versions (site_id, live_until) where live_until is not null;

-- The owner's settings. Of what counts visitors too, though nothing does yet.
alter table sites add column skew integer not null default 1 check (skew in (0, 1));
alter table sites add column stats integer not null default 1 check (stats in (0, 1));

-- A name at which a version is shown without being live, or none: then its own address alone shows it. A version that was
-- never live is there as long as one of these names it.
create table previews (
  preview_no integer primary key,
  site_id text not null,
  name text,
  version_no integer not null references versions (version_no) on delete cascade,
  -- ISO 8601, of its last deploy.
  created_at text not null,
  -- Epoch milliseconds.
  expires_at integer not null
) strict;
create unique index previews_by_name on previews (site_id, name) where name is not null;
create unique index previews_unnamed on previews (version_no) where name is null;
create index previews_by_version on previews (version_no);
create index previews_by_site on previews (site_id, created_at);
create index previews_due on previews (expires_at);

-- Deploy tokens: SHA-256 alone.
create table deploy_tokens (
  hash text primary key,
  token_id text not null unique,
  account_id text not null references accounts (account_id) on delete cascade,
  name text not null,
  -- JSON lists; `site_ids` null: all sites of the account.
  scopes text not null,
  site_ids text,
  created_at text not null,
  last_used_at text,
  -- Epoch milliseconds.
  expires_at integer not null
) strict, without rowid;
create index deploy_tokens_by_account on deploy_tokens (account_id, created_at);
create index deploy_tokens_due on deploy_tokens (expires_at);

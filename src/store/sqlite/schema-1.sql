-- Fields are named as on the wire. Whatever a version names never changes once it is stored; only a site's
-- live_version_id moves. Paths and hashes are the bulk: two million file rows must stay under 200 MB.
create table sites (
  site_id text primary key,
  slug text not null unique,
  label text,
  owner_account_id text,
  created_at text not null,
  -- Epoch milliseconds. An anonymous site always has one, an owned site never: nothing is lost between the two.
  expires_at integer,
  live_version_id text not null,
  spa_override integer check (spa_override in (0, 1)),
  frozen integer not null default 0 check (frozen in (0, 1)),
  disabled_reason text,
  comments_mode text not null default 'off' check (comments_mode in ('off', 'anonymous', 'passcode', 'approved')),
  check ((owner_account_id is null) = (expires_at is not null)),
  foreign key (site_id, live_version_id) references versions (site_id, version_id) deferrable initially deferred
) strict, without rowid;
create index sites_by_expiry on sites (expires_at) where expires_at is not null;
create index sites_by_owner on sites (owner_account_id) where owner_account_id is not null;

create table versions (
  -- Grows with every deploy: the order of a site's history, for created_at may be equal or step back.
  version_no integer primary key,
  site_id text not null references sites (site_id) on delete cascade deferrable initially deferred,
  version_id text not null,
  digest text not null,
  title text,
  created_at text not null,
  files integer not null,
  bytes integer not null,
  spa_enabled integer not null check (spa_enabled in (0, 1)),
  spa_rule text not null,
  unique (site_id, version_id)
) strict;

create table blobs (
  blob_no integer primary key,
  sha256 text not null unique,
  bytes integer not null
) strict;

create table files (
  version_no integer not null references versions (version_no) on delete cascade,
  path text not null,
  blob_no integer not null references blobs (blob_no),
  media_type text not null,
  made integer not null check (made in (0, 1)),
  primary key (version_no, path)
) strict, without rowid;
create index files_by_blob on files (blob_no);

-- SHA-256 of a bearer token; the token itself is nowhere.
create table tokens (
  hash text primary key,
  site_id text not null references sites (site_id) on delete cascade,
  kind text not null check (kind in ('manage', 'claim')),
  created_at text not null,
  used_at text
) strict, without rowid;
create index tokens_by_site on tokens (site_id);

-- A slug is never given out twice, and a former token learns that its site is gone.
create table tombstones (
  slug text primary key,
  site_id text not null unique,
  reason text not null check (reason in ('expired', 'deleted')),
  gone_at text not null
) strict, without rowid;
create table tombstone_tokens (
  hash text primary key,
  site_id text not null references tombstones (site_id),
  kind text not null check (kind in ('manage', 'claim'))
) strict, without rowid;

create table idempotency_keys (
  key_hash text not null,
  address text not null,
  site_id text not null,
  version_id text not null,
  created_at integer not null,
  primary key (key_hash, address)
) strict, without rowid;
create index idempotency_keys_by_age on idempotency_keys (created_at);

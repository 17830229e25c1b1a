-- A site goes at once and its bulk afterwards: its row becomes a tombstone in one short transaction, and the sweep removes
-- its versions and their files in slices. So neither versions nor tokens end with the row of their site. A table cannot
-- drop a foreign key: both are made anew, with foreign keys switched off around the step (database.ts).
create table versions_new (
  version_no integer primary key,
  -- Of a row of sites; or, until the sweep has removed the version, of one of leftovers.
  site_id text not null,
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
insert into versions_new select version_no, site_id, version_id, digest, title, created_at, files, bytes, spa_enabled, spa_rule
from versions;
drop table versions;
alter table versions_new rename to versions;

-- A token stays when its site goes: whoever sends it learns that the site is gone.
create table tokens_new (
  hash text primary key,
  -- Of a row of sites, or of tombstones.
  site_id text not null,
  kind text not null check (kind in ('manage', 'claim')),
  created_at text not null,
  used_at text
) strict, without rowid;
insert into tokens_new select hash, site_id, kind, created_at, used_at from tokens;
insert into tokens_new select hash, site_id, kind, gone_at, null from tombstone_tokens join tombstones using (site_id);
drop table tokens;
drop table tombstone_tokens;
alter table tokens_new rename to tokens;
create index tokens_by_site on tokens (site_id);

-- Sites that are gone and whose versions are not all removed yet.
create table leftovers (
  site_id text primary key references tombstones (site_id)
) strict, without rowid;

-- The sweep looks for old sessions under the write lock.
create index sessions_by_use on sessions (last_used_at);

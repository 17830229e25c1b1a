-- Domains of sites (BEYOND 10). A name may wait for several sites; at most one of them has it.
create table domains (
  domain text not null,
  site_id text not null references sites (site_id) on delete cascade,
  state text not null check (state in ('pending', 'active', 'lapsed')),
  is_primary integer not null default 0 check (is_primary in (0, 1)),
  hsts integer not null default 0 check (hsts in (0, 1)),
  added_at text not null,
  -- When its proof was first seen, and when it was last looked up.
  verified_at text,
  checked_at text,
  -- Since when the proof of an active one is missing; null while it stands.
  missing_since text,
  primary key (domain, site_id)
) strict, without rowid;
create unique index domains_active on domains (domain) where state = 'active';
create unique index domains_primary on domains (site_id) where is_primary = 1;
create index domains_by_site on domains (site_id);

-- Certificates that the server orders itself, by the name they are for: a domain, the base host or `*.<sites domain>`.
create table certificates (
  name text primary key,
  state text not null check (state in ('pending', 'active', 'failed')),
  expires_at text,
  -- A sentence: why the last order failed.
  error text,
  failures integer not null default 0,
  -- When it is ordered next, in epoch milliseconds.
  next_at integer not null
) strict, without rowid;

-- Answers to the HTTP-01 challenges of orders under way (RFC 8555, 8.3), for all workers.
create table acme_challenges (
  token text primary key,
  answer text not null,
  until integer not null
) strict, without rowid;

-- An owner may add and remove domains without end.
drop index audit_repeated;
create index audit_repeated on audit (site_id, audit_no)
  where action in ('rollback', 'promote', 'set-comments', 'set-access', 'set-domain');

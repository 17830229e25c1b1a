-- While a row is unexpired no blob is swept: a backup is copying what its own database copy names.
create table holds (
  hold_id text primary key,
  -- Epoch milliseconds; renewed while the backup runs, so that one that was killed lapses by itself.
  expires_at integer not null
) strict, without rowid;

-- What visitors report to the operator. No foreign key: a report outlives its site.
create table reports (
  report_no integer primary key,
  report_id text not null unique,
  site_id text not null,
  slug text not null,
  reason text not null,
  text text,
  email text,
  created_at text not null
) strict;

-- Where the server was reached when it last started: operators' commands print links that work.
create table address (
  only_row integer primary key check (only_row = 1),
  base_url text not null,
  sites_domain text not null
) strict;

-- How far the slow turn that re-hashes every blob has come (RELIABILITY.md 2, Verify).
create table verify_turn (
  only_row integer primary key check (only_row = 1),
  blob_no integer not null
) strict;
insert into verify_turn (only_row, blob_no) values (1, 0);

-- What a browser saw of a version, where the render engine is on (CONTRACT 9).
create table renders (
  version_no integer primary key references versions (version_no) on delete cascade,
  site_id text not null,
  status text not null check (status in ('pending', 'done', 'failed')),
  -- Epoch milliseconds.
  asked_at integer not null,
  -- How often it was begun: a page that ends the engine is not tried for ever.
  tries integer not null default 0,
  -- One sentence; null where it was seen.
  reason text,
  -- JSON: console, failed_requests, dom_summary.
  seen text,
  warned integer not null default 0,
  warnings text not null default '[]',
  -- Bytes of the disk: the texts, and the pictures in whole blocks.
  disk integer not null default 0
) strict;
create index renders_by_site on renders (site_id, status);
create index renders_waiting on renders (asked_at, version_no) where status = 'pending';

create table pictures (
  version_no integer not null references renders (version_no) on delete cascade,
  size text not null check (size in ('desktop', 'phone')),
  blob_no integer not null references blobs (blob_no),
  primary key (version_no, size)
) strict, without rowid;
create index pictures_by_blob on pictures (blob_no);

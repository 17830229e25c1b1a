-- What the service said of the deploy that made a version: JSON lists, bounded (sql/receipts.ts). A table of their own, so
-- that whoever lists versions reads none of it. Versions that are older than this step have none.
create table receipts (
  version_no integer primary key references versions (version_no) on delete cascade,
  -- Entries that were too much to be kept.
  left_out integer not null,
  -- How many warnings there were, kept or not: lists tell it, and read no text for it.
  warned integer not null,
  healed text not null,
  warnings text not null
) strict;

-- When the live version was made: moves with live_version_id.
alter table sites add column deployed_at text not null default '';
update sites set deployed_at = coalesce(
  (select created_at from versions where versions.site_id = sites.site_id and version_id = live_version_id), created_at
);

-- Each order of an account's list, so that one page of it is read and no more.
create index sites_by_deploy on sites (owner_account_id, deployed_at, site_id) where owner_account_id is not null;
create index sites_by_name on sites (owner_account_id, lower(coalesce(label, slug)), site_id)
  where owner_account_id is not null;

-- What sites take of a quota (BEYOND 9): a figure in each site's row, kept by whatever adds or removes a version, so that a
-- deploy adds up the rows of an index and no files.

-- Names the site in its rows of `files`, where its id would be ten times as long: the version_no of its first version.
alter table sites add column site_no integer not null default 0;
-- Bytes of the distinct uploaded blobs of all its versions.
alter table sites add column stored_bytes integer not null default 0;
-- What all of it takes on the disk, with what is made of uploads, in blocks, and with the rows that name it.
alter table sites add column stored_disk integer not null default 0;
alter table sites add column stored_versions integer not null default 0;
-- How often versions were removed: what a process keeps of a version under an older count may be another's.
alter table sites add column removals integer not null default 0;
-- Keyed hash of the network that deployed a site without an owner; goes with the site or with its claim.
alter table sites add column network text;
alter table files add column site_no integer not null default 0;

update sites set (site_no, stored_versions) = (
  select coalesce(min(version_no), 0), count(*) from versions where versions.site_id = sites.site_id
);
update files set site_no = (
  select sites.site_no from versions join sites using (site_id) where versions.version_no = files.version_no
) where exists (select 1 from versions join sites using (site_id) where versions.version_no = files.version_no);

-- Whether a site has a blob already is one step in it, however many sites and versions name that blob.
drop index files_by_blob;
create index files_by_blob on files (blob_no, site_no, made);
update sites set stored_bytes = (
  select coalesce(sum(blobs.bytes), 0) from blobs where blob_no in (
    select blob_no from versions join files using (version_no) where versions.site_id = sites.site_id and made = 0)
), stored_disk = (
  select coalesce(sum((blobs.bytes + 4095) / 4096 * 4096), 0) from blobs where blob_no in (
    select blob_no from versions join files using (version_no) where versions.site_id = sites.site_id)
) + (
  select coalesce(sum(2 * octet_length(path) + 64), 0) from versions join files using (version_no)
  where versions.site_id = sites.site_id
);

-- Newest first, page by page, and the oldest of a site: version_no comes after the site in each row.
create index versions_by_site on versions (site_id);
-- An account's list in its order, and its figures, both out of the index alone.
drop index sites_by_owner;
create index sites_by_owner on sites (owner_account_id, created_at, site_id, stored_bytes, stored_disk, stored_versions)
  where owner_account_id is not null;
create index sites_by_network on sites (network, expires_at, stored_bytes, stored_disk) where network is not null;
drop index sessions_by_account;
create index sessions_by_account on sessions (account_id, created_at, session_id);

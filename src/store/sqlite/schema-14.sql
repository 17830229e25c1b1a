-- `withhold` now means what its own address goes by too: while another version is live it is 404 there (BEYOND 9). So of a
-- version without a receipt, of which nobody knows anything, it is taken back; where the warnings did not all fit into the
-- receipt, the one of the secret may be among those that did not.
update versions set withhold = 0 where withhold = 1 and not exists (
  select 1 from receipts where receipts.version_no = versions.version_no and (
    json_array_length(receipts.warnings) < warned
    or exists (select 1 from json_each(receipts.warnings) where json_extract(value, '$.code') = 'possible_secret')));
create index versions_withheld on versions (site_id, listed_no) where withhold = 1;

-- As from now on where such a version is left: the previews of it that were made before end.
delete from previews where exists (
  select 1 from versions where versions.version_no = previews.version_no and withhold = 1 and live_until is not null
    and previews.created_at <= strftime('%Y-%m-%dT%H:%M:%fZ', live_until / 1000.0, 'unixepoch'));

-- What an operator does to an account, and to a report (CONTRACT 7).

-- The reason while the account is disabled; null otherwise.
alter table accounts add column disabled_reason text;
-- Whether `disabled_reason` is the account's: it ends with the account's, and one of the site's own does not.
alter table sites add column disabled_with_account integer not null default 0 check (disabled_with_account in (0, 1));

-- ISO 8601; null while an operator has not closed it.
alter table reports add column closed_at text;
-- With their site they go, a slice at a time.
create index reports_by_site on reports (site_id);
delete from reports where not exists (select 1 from sites where sites.site_id = reports.site_id);

-- What the abuse scan found suspicious, as a JSON list of sentences, while an operator has not cleared the site: its pages
-- then go out with a policy that lets no form leave it. Belongs to the site, so no later version and no claim lifts it.
alter table sites add column quarantine text;
-- The newest version there was when an operator cleared the site: none up to it brings the quarantine back.
alter table sites add column cleared_version_no integer;
create index sites_in_quarantine on sites (site_id) where quarantine is not null;

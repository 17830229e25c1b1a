-- The password of a site (BEYOND 8): argon2id; null for a site that anybody may see. The epoch counts each change, so that what was
-- granted under a former one opens nothing.
alter table sites add column access_hash text;
alter table sites add column access_set_at text;
alter table sites add column access_epoch integer not null default 0;
-- An owner may set it without end.
drop index audit_repeated;
create index audit_repeated on audit (site_id, audit_no)
  where action in ('rollback', 'promote', 'set-comments', 'set-access');

-- The acts of which the audit log keeps the newest of each site, found without reading the whole log.
create index audit_repeated on audit (site_id, audit_no) where action in ('rollback', 'promote', 'set-comments');

-- The secret of a webhook is encrypted under a key of DATA/secrets, which no step can read: the start that takes this step
-- encrypts those that are there (prepare.ts). 0: the secret is as it was set.
alter table comment_settings add column webhook_encrypted integer not null default 0 check (webhook_encrypted in (0, 1));
create index comment_settings_plain on comment_settings (site_id) where webhook is not null and webhook_encrypted = 0;

-- Of an invitation the audit log has the e-mail address as long as there is the invitation or its account.
create index audit_invited on audit (reason) where action = 'invite' and reason is not null;

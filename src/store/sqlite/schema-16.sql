-- What a revocation ends beside manage_tokens (RELIABILITY A25).

-- An owner's cookie of an older epoch is void.
alter table sites add column owner_epoch integer not null default 0;

-- The credential that made it: `giver` is a manage_token of a deploy without an account, `manage` one that a deploy gave to an
-- account, `account` a session. What is older than this step may be a giver's, and counts as such.
alter table agent_tokens add column made_by text not null default 'giver'
  check (made_by in ('giver', 'manage', 'account'));
alter table owner_codes add column made_by text not null default 'giver'
  check (made_by in ('giver', 'manage', 'account'));
alter table comment_settings add column webhook_by text not null default 'giver'
  check (webhook_by in ('giver', 'manage', 'account'));

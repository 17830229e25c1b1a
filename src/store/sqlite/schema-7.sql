-- Whose session a deploy gave the token to; null: whoever deployed without an account. So a reset of the account, or a
-- claim, ends the tokens of the one and not of the other.
alter table tokens add column account_id text;
create index tokens_by_account on tokens (account_id) where account_id is not null;

-- Those of sites that were never anybody else's (they have no claim token), and those that were made after the ten minutes
-- in which an Idempotency-Key made another for the anonymous giver: from then on only a deploy by session makes one.
update tokens set account_id = (select owner_account_id from sites where sites.site_id = tokens.site_id)
where kind = 'manage' and exists (
  select 1 from sites where sites.site_id = tokens.site_id and owner_account_id is not null and (
    not exists (select 1 from tokens as given where given.site_id = sites.site_id and given.kind = 'claim')
    or julianday(tokens.created_at) > julianday(sites.created_at, '+11 minutes')));

-- From where an account's password was given before: guesses from elsewhere do not slow these networks.
create table sign_in_networks (
  account_id text not null references accounts (account_id) on delete cascade,
  -- HMAC of account and network, under a key of DATA/secrets: the address itself is nowhere.
  network_hash text not null,
  -- Epoch milliseconds of the last time.
  seen_at integer not null,
  primary key (account_id, network_hash)
) strict, without rowid;
create index sign_in_networks_by_age on sign_in_networks (seen_at);

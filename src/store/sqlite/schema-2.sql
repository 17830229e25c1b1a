-- People, and how a program gets to act for one of them. Of every secret only its SHA-256 is here.
create table accounts (
  account_id text primary key,
  -- Trimmed, NFC, lower case: as it is compared.
  email text not null unique,
  -- argon2id, with its salt and parameters.
  password_hash text not null,
  created_at text not null
) strict, without rowid;

create table sessions (
  session_id text primary key,
  hash text not null unique,
  account_id text not null references accounts (account_id) on delete cascade,
  created_at text not null,
  -- A session lives 90 days from here. Written at most once a minute.
  last_used_at text not null,
  -- When its bearer last gave the password; null for a session that a device got: it never did.
  signed_in_at text,
  -- What asked for it, as it called itself.
  client text not null
) strict, without rowid;
create index sessions_by_account on sessions (account_id);

-- One that has given its session is deleted at once: a used code is an unknown one.
create table device_logins (
  device_hash text primary key,
  -- Eight letters, without the hyphen.
  user_code text not null unique,
  state text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
  account_id text references accounts (account_id) on delete cascade,
  -- Who asks, for the person who is to approve it.
  address text not null,
  client text not null,
  created_at text not null,
  -- Epoch milliseconds, as polled_at.
  expires_at integer not null,
  polled_at integer,
  -- Seconds; five more each time that the device did not wait.
  interval integer not null default 5,
  check ((state = 'approved') = (account_id is not null))
) strict, without rowid;
create index device_logins_by_expiry on device_logins (expires_at);

-- `svc-server account invite`: opens sign-up once, for that address alone.
create table invitations (
  hash text primary key,
  email text not null,
  created_at text not null,
  -- Epoch milliseconds.
  expires_at integer not null,
  used_at text
) strict, without rowid;

-- Every operator action and every deletion. Never changed, and it outlives what it tells of: no foreign keys.
create table audit (
  audit_no integer primary key,
  at text not null,
  -- `operator`, `expiry` or an account_id.
  actor text not null,
  action text not null,
  site_id text,
  account_id text,
  reason text
) strict;

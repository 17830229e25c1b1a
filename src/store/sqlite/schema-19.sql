-- How it goes with the webhooks of sites. Like all of a site's comments, rows here go with the site.

-- A row from a site's first webhook on.
create table webhook_states (
  site_id text primary key,
  -- Keyed hash of the provider's customer (an IPv4 address, an IPv6 /48) that set the webhook: where nobody owns the site,
  -- letters of all that it set share the slots. Null: it was set before this step.
  customer text,
  -- All five are of the address that is set now.
  last_delivered_at text,
  -- Null while its receiver takes what it is sent.
  failing_since text,
  -- For the site's owner.
  last_error text,
  -- Its receiver answered 410: nothing more is sent until the webhook is set anew.
  ended_at text,
  -- Letters that were given up, and those that came when no more could wait.
  lost integer not null default 0,
  -- Of those that came when no more could wait, those that /metrics has not counted yet.
  refused integer not null default 0,
  -- Tries that failed one after the other: they decide how long the site waits.
  misses integer not null default 0,
  -- Epoch milliseconds: before it nothing is sent for the site. 0 while its receiver takes what it is sent.
  next_at integer not null default 0,
  -- When a letter of it was last sent (epoch milliseconds), and how long that took.
  turn_at integer not null default 0,
  took_ms integer not null default 0
) strict, without rowid;

-- The last letters of each site that were tried.
create table webhook_deliveries (
  -- Another one at each outcome: the latest is the highest.
  outcome_no integer primary key,
  id text not null unique,
  site_id text not null,
  type text not null,
  comment_no integer not null,
  created_at text not null,
  -- When it was last tried or sent again.
  at text not null,
  outcome text not null check (outcome in ('waiting', 'delivered', 'failed', 'given_up')),
  -- Null: no answer.
  status integer,
  -- Tries, the last one among them.
  tries integer not null
) strict;
create index webhook_deliveries_by_site on webhook_deliveries (site_id, outcome_no);

-- The wait is the site's. What waited for its own time is due at once.
drop index webhook_outbox_by_site;
alter table webhook_outbox drop column next_at;
-- Tries of its site that failed since it came: so many, and it is given up.
alter table webhook_outbox add column probes integer not null default 0;
create index webhook_outbox_by_site on webhook_outbox (site_id, delivery_no);

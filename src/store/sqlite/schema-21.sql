-- Notices to the operator (CONTRACT 7.5). A type of them has a row while the server has an address to send them to: what happened
-- since the last letter of that type.
create table notices (
  type text primary key,
  -- How often it happened, and what is told of the first few times: a JSON array.
  count integer not null default 0,
  items text not null default '[]',
  -- When its last letter was written, epoch milliseconds.
  letter_at integer not null default 0
) strict, without rowid;

-- The letters wait among those of webhooks, under the site_id 'server' and with their content: so the types are not only
-- those of comments any more.
create table outbox (
  delivery_no integer primary key,
  -- The same in all tries: by it a receiver knows what it has.
  id text not null unique,
  site_id text not null,
  type text not null,
  -- 0 in a notice.
  comment_no integer not null,
  created_at text not null,
  -- Those that failed.
  tries integer not null default 0,
  -- Tries of its site that failed since it came: so many, and it is given up.
  probes integer not null default 0,
  -- JSON; null in the letters of sites.
  notice text
) strict;
insert into outbox (delivery_no, id, site_id, type, comment_no, created_at, tries, probes)
  select delivery_no, id, site_id, type, comment_no, created_at, tries, probes from webhook_outbox;
drop table webhook_outbox;
alter table outbox rename to webhook_outbox;
create index webhook_outbox_by_site on webhook_outbox (site_id, delivery_no);

-- The shares that networks have of what visitors write on a site, and how much of it a page holds (RELIABILITY A26, A27).

-- Keyed hash of the site and of the block of addresses that a visitor's comment came from (an IPv4 /24, an IPv6 /48). Null of
-- owners' and agents' ones, of older ones, and once the text is gone.
alter table comments add column network text;
create index comments_by_network on comments (site_id, network, state, comment_no) where network is not null;

-- Bytes that the text, and a thread's passage, take when they are written out.
alter table comments add column written integer not null default 0;
alter table threads add column written integer not null default 0;
update comments set written = octet_length(text)
    + 5 * (2 * length(text) - length(replace(text, '"', '')) - length(replace(text, '''', '')))
    + 4 * (length(text) - length(replace(text, '&', '')))
    + 3 * (2 * length(text) - length(replace(text, '<', '')) - length(replace(text, '>', '')))
  where text is not null;
update threads set written = octet_length(exact || prefix || suffix)
    + 5 * (2 * length(exact) - length(replace(exact, '"', '')) - length(replace(exact, '''', '')))
    + 4 * (length(exact) - length(replace(exact, '&', '')))
    + 3 * (2 * length(exact) - length(replace(exact, '<', '')) - length(replace(exact, '>', '')))
  where exact is not null;
create index comments_by_size on comments (thread_no, state, written);

-- Who gave the passcode of a site's comments: what strangers try does not slow them.
create table passcode_networks (
  site_id text not null,
  -- Keyed hash of the site and of the customer's block (an IPv4 address, an IPv6 /48).
  network_hash text not null,
  -- Epoch milliseconds of the last time.
  seen_at integer not null,
  primary key (site_id, network_hash)
) strict, without rowid;

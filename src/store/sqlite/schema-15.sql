-- Keyed hash of the customer (an IPv4 address, an IPv6 /48) that deployed a version: versions wait in turn by it. It is null once the
-- version was looked at or given up.
alter table renders add column asked_from text;

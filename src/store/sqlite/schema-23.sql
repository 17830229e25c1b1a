-- Names that a site had before the one that it has now (BEYOND 17): they lead to it for good, and nobody else gets them. No
-- foreign key: when the site is gone, its tombstone answers for them.
create table former_slugs (
  slug text primary key,
  site_id text not null,
  -- When the site was renamed.
  left_at text not null
) strict, without rowid;
create index former_slugs_by_site on former_slugs (site_id);

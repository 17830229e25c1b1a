-- Whether a text was said before on a site is one step in an index. The first 48 bits of its SHA-256; null where there is no
-- text any more, and of comments that are older than this step: they are not known again.
alter table comments add column text_hash integer;
create index comments_by_text on comments (site_id, text_hash, person_id) where text_hash is not null;

-- The figures of a deploy (BEYOND 15). Receipts that are older than this step have none: null.
alter table receipts add column checked_pages integer;
alter table receipts add column checked_links integer;
alter table receipts add column checked_files integer;
-- The version that was live before; null for a site's first one, and in receipts without figures.
alter table receipts add column against text;
alter table receipts add column added integer;
alter table receipts add column changed integer;
alter table receipts add column removed integer;
alter table receipts add column same integer;
-- The first path of each kind, for lists of versions: null where there is none, or where it is long.
alter table receipts add column named_added text;
alter table receipts add column named_changed text;
alter table receipts add column named_removed text;
-- Open threads of a site are counted in the list of sites.
create index threads_open on threads (site_id, thread_no) where status = 'open';
-- The renderer that made pages of it; null if none was made, or if that is older than this step.
alter table receipts add column renderer integer;
-- The deletion of a version takes the names of its files out of the next one's receipt.
create index receipts_by_against on receipts (against) where against is not null;

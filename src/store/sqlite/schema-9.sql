-- Comments on a site's pages. A site's rows here go with it: those of one that is deleted in that very transaction, those of
-- one that has expired with the sweep, a slice at a time. So nothing here has a foreign key on sites.

-- Counts each change of the settings of a site's comments: part of its pages' entity tags.
alter table sites add column comments_changes integer not null default 0;

-- There is a row from the first time that the comments of a site are turned on.
create table comment_settings (
  site_id text primary key,
  -- The mode that they had when they were last on.
  last_mode text not null check (last_mode in ('anonymous', 'passcode', 'approved')),
  -- argon2id, with its salt and parameters.
  passcode_hash text,
  -- Grants of an older one are void.
  passcode_epoch integer not null default 0,
  -- JSON: url, events, secret.
  webhook text,
  -- The last change of anything that `threads` shows. Numbers of changes grow, and are never shown as they are.
  change_no integer not null default 0
) strict, without rowid;

-- Who has written, each under a keyed hash of what their cookie holds. An agent is one too.
create table comment_people (
  site_id text not null,
  person_id text not null,
  kind text not null check (kind in ('visitor', 'owner', 'agent')),
  name text not null,
  -- What strangers are shown: a new name waits in `approved` mode for the next approval.
  shown_name text not null,
  created_at text not null,
  primary key (site_id, person_id)
) strict, without rowid;

create table comments (
  -- Order of writing.
  comment_no integer primary key,
  id text not null unique,
  site_id text not null,
  -- comment_no of the first one of the thread, which names itself.
  thread_no integer not null,
  -- Null once it is erased.
  person_id text,
  -- Null once it is deleted or erased.
  text text,
  -- `erased`: a gap that the thread still shows. `deleted`: it shows nothing.
  state text not null check (state in ('public', 'pending', 'rejected', 'deleted', 'erased')),
  -- Whether strangers ever saw it: they are then told that it is gone.
  was_public integer not null check (was_public in (0, 1)),
  -- The author's key for one try; null where none was sent.
  canonical text,
  created_at text not null,
  edited_at text,
  -- The last change of any kind (ISO 8601), and how many there were: its entity tag.
  modified_at text not null,
  rev integer not null default 1,
  -- The last change that strangers, and that author and owner, could see.
  public_no integer not null,
  own_no integer not null,
  check ((text is null) = (state in ('deleted', 'erased')))
) strict;
-- The last column of each only saves reading the row.
create index comments_by_thread on comments (thread_no, comment_no, state);
create index comments_by_site on comments (site_id, state, comment_no, thread_no);
create index comments_by_change on comments (site_id, modified_at) where state = 'public';
create index comments_by_person on comments (site_id, person_id) where person_id is not null;
create unique index comments_by_canonical on comments (site_id, person_id, canonical) where canonical is not null;

create table threads (
  -- comment_no of its first comment.
  thread_no integer primary key references comments (comment_no) on delete cascade,
  site_id text not null,
  -- As serving resolves it: `/guide.html`.
  page text not null,
  status text not null default 'open' check (status in ('open', 'resolved')),
  -- The version that it was written on, and when that was deployed: the version may go before the thread.
  version_id text not null,
  version_created_at text not null,
  -- The quote, in the page's normalised text; null: the whole page.
  exact text,
  prefix text,
  suffix text,
  -- Where a browser saw it: a tag path or an id.
  element text,
  -- How it stands in the live version; null without a quote.
  carried text check (carried in ('exact', 'edited', 'lost')),
  -- Where it was last found: UTF-16 units of the normalised text of the page in that version.
  found_version_id text,
  found_start integer,
  found_end integer,
  -- The last change of all this.
  changed_no integer not null,
  check ((exact is null) = (carried is null)),
  check ((found_version_id is null) = (found_start is null) and (found_start is null) = (found_end is null))
) strict;
create index threads_by_page on threads (site_id, page, thread_no);

-- What was decided of a comment, and by whom. Never changed.
create table comment_events (
  event_no integer primary key,
  id text not null unique,
  site_id text not null,
  comment_no integer not null,
  action text not null check (action in ('approved', 'rejected', 'resolved', 'reopened', 'deleted')),
  -- As they were called then.
  by_id text not null,
  by_name text not null,
  by_kind text not null check (by_kind in ('owner', 'agent')),
  note text,
  created_at text not null
) strict;
create index comment_events_by_comment on comment_events (comment_no, event_no);
create index comment_events_by_site on comment_events (site_id);

create table comment_reports (
  report_no integer primary key,
  site_id text not null,
  comment_no integer not null,
  reason text not null check (reason in ('spam', 'abuse', 'privacy', 'other')),
  text text,
  created_at text not null
) strict;
create index comment_reports_by_comment on comment_reports (comment_no, report_no);
create index comment_reports_by_site on comment_reports (site_id);

-- Agents' tokens: SHA-256 alone.
create table agent_tokens (
  hash text primary key,
  token_id text not null unique,
  site_id text not null,
  name text not null,
  -- JSON list.
  scopes text not null,
  created_at text not null,
  last_used_at text,
  -- Epoch milliseconds.
  expires_at integer not null
) strict, without rowid;
create index agent_tokens_by_site on agent_tokens (site_id, created_at);

-- One use each makes a browser the owner's for an hour.
create table owner_codes (
  hash text primary key,
  site_id text not null,
  -- Epoch milliseconds.
  expires_at integer not null
) strict, without rowid;
create index owner_codes_by_site on owner_codes (site_id);

-- What is still to be posted to the address that a site's owner set: what happened, and of which comment. What is told of
-- it is read when it is told, so that nothing goes out that was deleted meanwhile.
create table webhook_outbox (
  delivery_no integer primary key,
  -- The same in all tries: by it a receiver knows what it has.
  id text not null unique,
  site_id text not null,
  type text not null check (type in (
    'thread.created', 'reply.created', 'thread.resolved', 'thread.reopened', 'comment.reported')),
  comment_no integer not null,
  created_at text not null,
  -- Those that failed.
  tries integer not null default 0,
  -- Epoch milliseconds.
  next_at integer not null
) strict;
create index webhook_outbox_by_site on webhook_outbox (site_id, next_at, delivery_no);

-- A drama is a task made of tasks: each text, picture, clip and line is a row of its own, with the same
-- lease and the same recovery as any other. Parts have no money and no event; what they used is paid for
-- with the task they belong to, and they are not shown to clients.

alter table task
  add column parent_id text references task (id),
  -- Such as script or video/3, and how often it was tried before.
  add column part      text,
  add column attempt   smallint not null default 1,
  -- What a part used; the money is its parent's.
  add column usage     jsonb,
  -- Parts that have ended since somebody looked.
  add column nudges    int not null default 0,
  add constraint task_part_named check ((parent_id is null) = (part is null));

create unique index task_part on task (parent_id, part, attempt) where parent_id is not null;

-- chained: it waits for its parts, and ends with them.
alter table task
  drop constraint task_phase_check,
  add constraint task_phase_check check (phase in ('submit', 'submitting', 'accepted', 'copying', 'chained'));

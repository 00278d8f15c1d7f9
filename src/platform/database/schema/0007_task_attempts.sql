-- Upstreams that did not take a task's job, for operators.

alter table task add column attempts jsonb not null default '[]';

comment on column task.attempts is
  'Submissions that failed and were followed by another: provider, model, outcome and duration_ms. The last one is in '
  '`provider`, `upstream_model` and `submitted_at`.';

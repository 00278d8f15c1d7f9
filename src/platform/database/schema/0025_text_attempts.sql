-- Text subtasks of dramas have their attempts too.

comment on column task.attempts is
  'Submissions that failed and were followed by another: provider, model, outcome and duration_ms. The last one is in '
  '`provider`, `upstream_model` and `submitted_at`. Of a text subtask of a drama: every call, also the last one.';

-- Tries to download a task's results that failed. Counted apart from broken steps, which are forgotten with
-- the next step that works: a job whose status can be read and whose result cannot would never end.
alter table task add column download_tries smallint not null default 0;

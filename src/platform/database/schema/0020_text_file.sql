-- Texts of dramas are files as all other results are.

alter table file drop constraint file_kind_check;
alter table file add constraint file_kind_check check (kind in ('image', 'audio', 'video', 'text'));

-- Usage that is not in the sums yet is looked for in the newest partitions of receipts only.

alter table usage_watermark add column oldest_id text collate "C" not null default '';
comment on column usage_watermark.oldest_id is
  'Receipts that were resolved since `through`, and those of requests under way, have ids from this one on.';

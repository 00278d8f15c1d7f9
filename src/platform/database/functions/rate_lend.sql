-- Lends parts of rate buckets to a node, for many keys in one call. Amounts are durations: a minute is a whole
-- bucket, whatever the rate. For each key the node first settles (used beyond what it was lent or, negative,
-- returned), then it gets up to `wants`, or nothing when there is less than `needs`. Answers what was lent, and how
-- long until the bucket is full.
-- Locks the buckets in the order of their keys.
create or replace function rate_lend(keys text[], settles float8[], needs float8[], wants float8[])
returns table (n int, lent float8, level float8)
language plpgsql as $$
declare
  minute constant float8 := 60000;
  slack  constant float8 := 0.001;
  asked  record;
  moment float8;
  fresh  float8;
begin
  -- In the order of the keys, on every node, so that there is no deadlock.
  for asked in
    select a.* from unnest(keys, settles, needs, wants) with ordinality
      as a(key, settle, need, want, n) order by a.key
  loop
    insert into rate_bucket as b (key, full_at) values (asked.key, 0)
      on conflict (key) do update set full_at = b.full_at
      returning b.full_at into fresh;
    -- After the row is ours: a wait for it must not turn time back.
    moment := extract(epoch from clock_timestamp()) * 1000;
    level := greatest(greatest(fresh - moment, 0) + asked.settle, 0);
    lent := case when minute - level + slack >= asked.need
      then least(asked.want, greatest(minute - level, asked.need)) else 0 end;
    level := level + lent;
    update rate_bucket b set full_at = moment + level where b.key = asked.key;
    n := asked.n;
    return next;
  end loop;
end $$;

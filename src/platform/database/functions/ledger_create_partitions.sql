-- Makes the monthly partitions of receipts and transfers: of this month, of so many ahead, and, if rows may be moved,
-- of months that rows in the default partitions belong to. Answers how many it made.
-- Locks the default partitions, after the sweeper's own lock.
create or replace function ledger_create_partitions(months_ahead int, may_move boolean) returns int
language plpgsql as $$
declare
  month timestamp; -- its first moment in UTC
  made  int := 0;
begin
  if not ledger_try_sweep_lock('partitions') then return 0; end if;
  for month in
    select date_trunc('month', ledger_now() at time zone 'UTC') + n * interval '1 month'
      from generate_series(0, months_ahead) n
    union
    select date_trunc('month', created_at at time zone 'UTC')
      from (select created_at from receipt_default union all select created_at from transfer_default) rows
     where may_move
  loop
    made := made
      + partition_create('receipt', to_char(month, '"receipt_"YYYY_MM'), ledger_id_at(month at time zone 'UTC'),
                         ledger_id_at((month + interval '1 month') at time zone 'UTC'), may_move)::int
      + partition_create('transfer', to_char(month, '"transfer_"YYYY_MM'), (month at time zone 'UTC')::text,
                         ((month + interval '1 month') at time zone 'UTC')::text, may_move)::int;
  end loop;
  return made;
end $$;

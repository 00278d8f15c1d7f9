-- What a settlement comes to when cash alone does not pay it from its hold: quota or credits pay too, or the price is
-- above the hold. Quota pays for units first (`covered`), money for the rest (`owed`). A hold that may be exceeded
-- then takes from free buckets: they follow the hold's own allocations, with nothing held, and `beyond` has what each
-- of them pays; `unpaid` is what no bucket can pay of it. Of a request with `shares` (see ledger_item), `quota_taken` is
-- what each allocation pays in units. Buckets are the arrays of ledger_run_items; the account's are at the positions
-- `first` to `cash`.
-- Locks nothing: computes only. Called per item, but seldom; the usual settlement is computed in ledger_run_items.
create or replace function ledger_settle_mixed(
  num numeric, den numeric, units bigint, of_hold hold, first int, cash int,
  bucket_id text[], bucket_unit text[], bucket_remaining numeric[], bucket_frozen numeric[],
  bucket_ended boolean[], cash_carry numeric, shares jsonb default null,
  out owed numeric, out covered bigint, out carry numeric, out allocations text[], out held numeric[],
  out beyond numeric[], out unpaid numeric, out quota_taken numeric[])
language plpgsql as $$
declare
  reserved numeric := 0; -- money that is held
  due_num  numeric := num; -- the exact price of what quota does not pay for
  due_den  numeric := den;
  wanted   numeric;
  part     numeric;
  shared   record;
begin
  owed := 0;
  covered := 0;
  carry := cash_carry;
  allocations := of_hold.allocations;
  held := of_hold.held;
  beyond := '{}';
  unpaid := 0;
  quota_taken := '{}';
  for slot in 1 .. cardinality(of_hold.allocations) loop
    quota_taken := quota_taken || 0::numeric;
    if of_hold.allocations[slot] like 'quota:%' and shares is not null then
      select * into shared
        from ledger_cover(shares, bucket_unit[array_position(bucket_id, of_hold.allocations[slot])], of_hold.held[slot]);
      quota_taken[slot] := shared.part;
      shares := shared.shares;
    elsif of_hold.allocations[slot] like 'quota:%' then
      covered := covered + least(of_hold.held[slot], units - covered)::bigint;
    else
      reserved := reserved + of_hold.held[slot];
    end if;
  end loop;
  if shares is not null then
    select u.num, u.den into due_num, due_den from ledger_uncovered(num, den, shares) u;
  elsif units > 0 then
    due_num := num * (units - covered);
    due_den := den * units;
  end if;

  if of_hold.beyond_hold and units > 0 and due_num > reserved * due_den then
    -- As many units of quota as bring the rest down to the money that is held.
    wanted := units - covered - div(reserved * due_den, num);
    for k in first .. cash loop
      exit when wanted <= 0 or bucket_unit[k] = 'money';
      part := least(bucket_remaining[k] - bucket_frozen[k], wanted);
      if bucket_unit[k] = of_hold.kind and not bucket_ended[k] and part > 0 then
        allocations := allocations || bucket_id[k];
        held := held || 0::numeric;
        beyond := beyond || part;
        wanted := wanted - part;
        due_num := due_num - num * part;
      end if;
    end loop;
  end if;

  if due_num > 0 then
    owed := ledger_owed(due_num, due_den, carry, reserved, of_hold.scale);
    carry := carry + ledger_carry(due_num, due_den, owed);
  end if;
  if of_hold.beyond_hold and owed > reserved then
    wanted := owed - reserved;
    for k in first .. cash loop
      part := least(bucket_remaining[k] - bucket_frozen[k], wanted);
      if bucket_unit[k] = 'money' and not bucket_ended[k] and part > 0 then
        allocations := allocations || bucket_id[k];
        held := held || 0::numeric;
        beyond := beyond || part;
        wanted := wanted - part;
      end if;
    end loop;
    unpaid := wanted;
  end if;
end $$;

-- Renews the leases of a node's reserves (see reserve_request), makes new ones, takes back what the node does not keep,
-- and adds what it wants as far as that leaves the account well off: all reserves of an account have at most a twentieth
-- of what it has, and twenty of its largest requests stay free. Quota is reserved as long as the account has some, then
-- money. What a node keeps is said as a sum, not as a change: if an answer was lost, the next renewal takes back what the
-- node does not know of. A renewal that comes after a later one changes nothing.
-- Answers what each of them has got, by bucket, and for how many more milliseconds the bucket may be used (null: for
-- ever). Outcomes: renewed; recalled, if what is not drawn is needed elsewhere, or the account is suspended or closed;
-- gone, if the lease has ended; late.
-- Locks the wallets of all accounts concerned, in the order of their ids.
create or replace function ledger_renew_reserves(doc json, out n int, out outcome text, out allocations text[],
                                                 out added numeric[], out ends_in_ms float8[])
returns setof record
language plpgsql
set enable_seqscan = off
set lock_timeout = '500ms'
as $$
#variable_conflict use_column
declare
  item     reserve_request;
  requests reserve_request[];
  r        reserve;
  bucket   balance_bucket;
  at       timestamptz;
  pays     text; -- the unit that pays
  wanted   numeric;
  part     numeric;
  given    int;
  slot     int;
  returned numeric[];
begin
  requests := array(select i from json_populate_recordset(null::reserve_request, doc) i order by i.account_id, i.n);
  perform ledger_lock_wallets(array(select account_id from unnest(requests)));
  at := ledger_now();
  foreach item in array requests loop
    n := item.n;
    allocations := '{}';
    added := '{}';
    ends_in_ms := '{}';
    select * into r from reserve where id = item.id;
    if r.id is null and not item.is_new then
      outcome := 'gone';
      return next;
      continue;
    elsif r.renewal >= item.renewal then
      outcome := 'late';
      return next;
      continue;
    elsif r.id is null then
      r := row(item.id, item.account_id, item.node_id, item.renewal, '{}', '{}', '{}', item.lease_ms, at, null);
    end if;
    outcome := case
      when item.is_closing then 'renewed'
      when r.recalled_at is not null
        or exists (select from account
                    where id = item.account_id and (suspended_at is not null or closed_at is not null)) then 'recalled'
      else 'renewed' end;

    returned := '{}';
    for slot in 1 .. cardinality(r.allocations) loop
      given := array_position(item.allocations, r.allocations[slot]);
      returned[slot] := r.held[slot] - least(r.held[slot], coalesce(item.kept[given], 0));
      r.held[slot] := r.held[slot] - returned[slot];
      r.drawn[slot] := least(coalesce(item.drawn[given], r.drawn[slot]), r.held[slot]);
    end loop;
    perform ledger_return_reserved(item.account_id, r.allocations, returned, at);

    if outcome = 'renewed' and not item.is_closing then
      pays := case when exists (
        select from balance_bucket
         where account_id = item.account_id and is_open and unit = item.kind and remaining > frozen
           and ended_at is null and coalesce(ends_at > at, true)) then item.kind else 'money' end;
      select least(case pays when 'money' then item.money else item.units end,
                   trunc(sum(b.remaining) / 20, case pays when 'money' then 12 else 0 end)
                     - sum(coalesce(l.held, 0)),
                   sum(b.remaining - b.frozen)
                     - 20 * case pays when 'money' then item.worst_money else item.worst_units end)
        into wanted
        from balance_bucket b
        left join (
          select bucket, sum(held) as held
            from (select unnest(o.allocations) as bucket, unnest(o.held) as held
                    from reserve o where o.account_id = item.account_id and o.id <> r.id
                  union all select unnest(r.allocations), unnest(r.held)) lines
           group by 1) l on l.bucket = b.id
       where b.account_id = item.account_id and b.is_open and b.unit = pays
         and b.ended_at is null and coalesce(b.ends_at > at, true);
      for bucket in
        select * from balance_bucket b
         where b.account_id = item.account_id and b.is_open and b.unit = pays and b.remaining > b.frozen
           and b.ended_at is null and coalesce(b.ends_at > at, true)
         order by b.source, b.ends_at, b.id
      loop
        exit when coalesce(wanted, 0) <= 0;
        part := least(wanted, bucket.remaining - bucket.frozen);
        wanted := wanted - part;
        update balance_bucket set frozen = frozen + part where id = bucket.id;
        slot := array_position(r.allocations, bucket.id);
        if slot is null then
          r.allocations := r.allocations || bucket.id;
          r.held := r.held || part;
          r.drawn := r.drawn || 0::numeric;
        else
          r.held[slot] := r.held[slot] + part;
        end if;
        allocations := allocations || bucket.id;
        added := added || part;
        ends_in_ms := ends_in_ms || extract(epoch from bucket.ends_at - at)::float8 * 1000;
      end loop;
    end if;

    if 0 = all (r.held) then
      delete from reserve where id = r.id;
    else
      insert into reserve select r.id, r.account_id, r.node_id, item.renewal, r.allocations, r.held, r.drawn,
                                 item.lease_ms, at + item.lease_ms * interval '1 millisecond', null
      on conflict (id) do update
        set renewal = excluded.renewal, allocations = excluded.allocations, held = excluded.held,
            drawn = excluded.drawn, lease_ms = excluded.lease_ms, expires_at = excluded.expires_at;
    end if;
    return next;
  end loop;
end $$;

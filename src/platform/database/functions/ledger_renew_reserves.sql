-- Renews the leases of a node's reserves (see reserve_request), makes new ones, takes back what the node returns, and
-- adds what it wants as far as that leaves the account well off: a reserve has at most a twentieth of what the account
-- has, and twenty of its largest requests stay free. Quota is reserved as long as the account has some, then money.
-- Answers what each of them has got, by bucket, and for how many more milliseconds the bucket may be used (null: for
-- ever). Outcomes: renewed, or gone if the lease had ended.
-- Locks the wallets of all accounts concerned, in the order of their ids.
create or replace function ledger_renew_reserves(doc json, out n int, out outcome text, out allocations text[],
                                                 out added numeric[], out ends_in_ms float8[])
returns setof record
language plpgsql
set enable_seqscan = off
set lock_timeout = '5s'
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
  slot     int;
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
    if r.id is null then
      if not item.is_new then
        outcome := 'gone';
        return next;
        continue;
      end if;
      r := row(item.id, item.account_id, item.node_id, '{}', '{}', '{}', at);
    end if;
    outcome := 'renewed';

    perform ledger_return_reserved(item.account_id, item.allocations, item.returned, at);
    for given in 1 .. cardinality(item.allocations) loop
      slot := array_position(r.allocations, item.allocations[given]);
      r.held[slot] := r.held[slot] - item.returned[given];
      r.drawn[slot] := least(item.drawn[given], r.held[slot]);
    end loop;

    if not item.is_closing then
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
        from balance_bucket b left join unnest(r.allocations, r.held) as l (id, held) on l.id = b.id
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
      insert into reserve select r.id, r.account_id, r.node_id, r.allocations, r.held, r.drawn,
                                 at + item.lease_ms * interval '1 millisecond'
      on conflict (id) do update
        set allocations = excluded.allocations, held = excluded.held, drawn = excluded.drawn,
            expires_at = excluded.expires_at;
    end if;
    return next;
  end loop;
end $$;

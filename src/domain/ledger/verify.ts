import type { Sql } from "postgres";
import type { Queries } from "../../platform/database/database.ts";

export interface LedgerCheck {
  name: string;
  ok: boolean;
  detail: string;
}

/** Finds violations of a rule: how many rows were checked, how many are wrong, and examples. */
export interface LedgerRule {
  name: string;
  run(sql: Queries): Promise<{ seen: string; wrong: string; examples: string[] | null }[]>;
}

/** What must be true of the ledger at any moment. */
const RULES: readonly LedgerRule[] = [
  {
    name: "transfers of each unit sum to zero",
    // Not true by construction alone: what enters an account of one unit must not leave as another.
    run: (sql) =>
      sql`
      with booked as (
        select name, unit, sum(amount) as amount from (
          select credit as name, unit, sum(amount) as amount from booking group by 1, 2
          union all select debit, unit, -sum(amount) from booking group by 1, 2) sides
        group by 1, 2),
      mixed as (select name from booked group by name having count(distinct unit) > 1
                   and name not in ('quota_grant', 'quota_used', 'quota_breakage')),
      sums as (select unit, sum(amount) as amount from booked group by unit)
      select (select count(*) from booked) as seen, count(*) as wrong, array_agg(words) as examples
        from (select unit || ' is off by ' || trim_scale(amount) as words from sums where amount <> 0
              union all select name || ' holds more than one unit' from mixed) w`,
  },
  {
    name: "every balance equals its transfers",
    run: (sql) =>
      sql`
      with booked as (
        select name, unit, sum(amount) as amount from (
          select credit as name, unit, sum(amount) as amount from booking group by 1, 2
          union all select debit, unit, -sum(amount) from booking group by 1, 2) sides
         where name ~ '^(cash|gift|quota):' group by 1, 2),
      compared as (
        select coalesce(p.id, b.name) as id, coalesce(p.remaining, 0) as has, coalesce(b.amount, 0) as says
          from balance_bucket p full join booked b on b.name = p.id and b.unit = p.unit)
      select count(*) as seen, count(*) filter (where has <> says) as wrong,
             (array_agg(id || ' has ' || trim_scale(has) || ', its transfers say ' || trim_scale(says))
               filter (where has <> says))[:5] as examples
        from compared`,
  },
  {
    name: "nothing is negative",
    run: (sql) =>
      sql`
      with seen as (
        select id, remaining < 0 or frozen < 0 or frozen > remaining as is_wrong from balance_bucket
        union all
        select id, amount < 0 or units < 0 or 0 > any (held) from hold
        union all
        select id, amount < 0 or units < 0 or shortfall < 0 or 0 > any (held) or 0 > any (taken)
          from final_receipt)
      select count(*) as seen, count(*) filter (where is_wrong) as wrong,
             (array_agg(id) filter (where is_wrong))[:5] as examples from seen`,
  },
  {
    name: "frozen equals open holds and reserves",
    run: (sql) =>
      sql`
      with kept as (
        select allocations, held from hold union all select allocations, held from reserve),
      reserved as (
        select bucket, sum(part) as amount from kept, unnest(allocations, held) as l (bucket, part)
         group by bucket),
      compared as (
        select coalesce(p.id, r.bucket) as id, coalesce(p.frozen, 0) as has, coalesce(r.amount, 0) as says
          from balance_bucket p full join reserved r on r.bucket = p.id)
      select count(*) as seen, count(*) filter (where has <> says) as wrong,
             (array_agg(id || ' has ' || trim_scale(has) || ' frozen, holds and reserves say ' || trim_scale(says))
               filter (where has <> says))[:5] as examples
        from compared`,
  },
  {
    name: "a reserve is its draws and what is left",
    // Of buckets of its own account, and neither part is a debt.
    run: (sql) =>
      sql`
      with lines as (
        select r.id, l.bucket, l.drawn, l.held - l.drawn as is_left, b.id is not null as is_own
          from reserve r cross join unnest(r.allocations, r.held, r.drawn) as l (bucket, held, drawn)
          left join balance_bucket b on b.id = l.bucket and b.account_id = r.account_id),
      seen as (select *, drawn < 0 or is_left < 0 or not is_own as is_wrong from lines)
      select count(distinct id) as seen, count(*) filter (where is_wrong) as wrong,
             (array_agg(id || ' has drawn ' || trim_scale(drawn) || ' from ' || bucket || ' and has '
                        || trim_scale(is_left) || ' left') filter (where is_wrong))[:5] as examples
        from seen`,
  },
  {
    name: "ended buckets are empty except for what is frozen",
    run: (sql) =>
      sql`
      with seen as (select id, remaining <> frozen as is_wrong from balance_bucket where ended_at is not null)
      select count(*) as seen, count(*) filter (where is_wrong) as wrong,
             (array_agg(id) filter (where is_wrong))[:5] as examples from seen`,
  },
  {
    name: "captured is at most held",
    // Beyond it only where the hold allows that, by allocations of their own for which nothing was held, and
    // only once the hold itself is used up: its money before more money is taken or a shortfall recorded, its
    // quota before more quota. A late settlement finds the rest of a hold that the sweeper released: it
    // may take the same amount from elsewhere, and record a shortfall sooner.
    run: (sql) =>
      sql`
      with seen as (
        select id, case
                 when ended_by = 'late'
                   then coalesce((
                     select bool_or(h > 0 and t > h)
                         or (not beyond_hold
                             and sum(t) filter (where bucket !~ '^quota:')
                               > sum(h) filter (where bucket !~ '^quota:'))
                       from unnest(allocations, held, taken) as l (bucket, h, t)), false)
                 when cardinality(taken) = 1 and held[1] > 0
                   then taken[1] > held[1]
                     or (shortfall > 0 and taken[1] < held[1] and allocations[1] !~ '^quota:')
                 else coalesce((
                   select bool_or(t > h and (h > 0 or not beyond_hold))
                       or (bool_or(t < h and bucket !~ '^quota:')
                           and (shortfall > 0 or bool_or(h = 0 and bucket !~ '^quota:')))
                       or (bool_or(t < h and bucket ~ '^quota:') and bool_or(h = 0 and bucket ~ '^quota:'))
                     from unnest(allocations, held, taken) as l (bucket, h, t)), false)
               end as is_wrong
          from final_receipt)
      select count(*) as seen, count(*) filter (where is_wrong) as wrong,
             (array_agg(id) filter (where is_wrong))[:5] as examples from seen`,
  },
  {
    name: "every capture of a batch equals its receipts",
    // A correction is a batch of its own: it takes the difference to the receipt that it replaces.
    run: (sql) =>
      sql`
      with written as (
        select batch, bucket, part from receipt, unnest(allocations, taken) as l (bucket, part)
        union all
        select batch, bucket, part from receipt_correction, unnest(allocations, taken) as l (bucket, part)
        union all
        select c.batch, bucket, -part from receipt_correction c join receipt r on r.id = c.id,
               unnest(r.allocations, r.taken) as l (bucket, part)
        union all
        select nullif(subject, '')::uuid, bucket, amount from archive_remainder where rule = 'capture'),
      receipts as (select batch, bucket, sum(part) as amount from written group by 1, 2),
      captures as (
        select batch, case when debit in ('revenue', 'quota_used') then credit else debit end as bucket,
               sum(case when debit in ('revenue', 'quota_used') then -amount else amount end) as amount
          from transfer where kind = 'capture' group by 1, 2),
      compared as (
        select coalesce(r.batch, c.batch) as batch, coalesce(r.bucket, c.bucket) as bucket,
               coalesce(r.amount, 0) as says, coalesce(c.amount, 0) as booked
          from receipts r full join captures c on c.batch = r.batch and c.bucket = r.bucket)
      select count(*) as seen, count(*) filter (where booked <> says) as wrong,
             (array_agg(coalesce(batch::text, 'no batch') || ' took ' || trim_scale(says) || ' from ' || bucket
                        || ', its transfers say ' || trim_scale(booked)) filter (where booked <> says))[:5]
               as examples
        from compared`,
  },
  {
    name: "a hold resolves once",
    // The primary key allows one receipt per hold. What was recorded as not paid, less what a late settlement
    // returned, is exactly what the receipt says.
    run: (sql) =>
      sql`
      with booked as (
        select hold_id, sum(case debit when 'revenue' then -amount else amount end) as amount
          from transfer where kind = 'shortfall' group by hold_id),
      archived as (select subject, amount from archive_remainder where rule = 'shortfall'),
      compared as (
        select coalesce(r.id, b.hold_id, a.subject) as id, coalesce(r.shortfall, 0) + coalesce(a.amount, 0) as says,
               coalesce(b.amount, 0) as booked, h.id is not null as is_open
          from final_receipt r full join booked b on b.hold_id = r.id
          full join archived a on a.subject = coalesce(r.id, b.hold_id) left join hold h on h.id = r.id)
      select count(*) as seen, count(*) filter (where booked <> says or is_open) as wrong,
             (array_agg(id || case when is_open then ' is open and has a receipt' else
                          ' lacks ' || trim_scale(says) || ', its transfers say ' || trim_scale(booked) end)
               filter (where booked <> says or is_open))[:5] as examples
        from compared`,
  },
  {
    name: "totals of archived months equal their archives",
    run: (sql) =>
      sql`
      with totals as (
        select month, sum(receipts) as receipts, sum(cash + gift + quota) as taken from receipt_total group by 1),
      booked as (select month, sum(transfers) as transfers, sum(amount) as amount from transfer_total group by 1),
      files as (
        select m.month, max(rows) filter (where table_name = 'receipt') as receipts,
               sum(amount) filter (where table_name in ('receipt', 'receipt_correction')) as taken,
               max(rows) filter (where table_name = 'transfer') as transfers,
               max(amount) filter (where table_name = 'transfer') as amount
          from archive_month m left join archive_file f on f.month = m.month
         where m.archived_at is not null group by 1),
      compared as (
        select month, (coalesce(t.receipts, 0), coalesce(t.taken, 0), coalesce(b.transfers, 0), coalesce(b.amount, 0))
                 is distinct from (f.receipts, f.taken, f.transfers, f.amount) as is_wrong
          from files f full join totals t using (month) full join booked b using (month))
      select count(*) as seen, count(*) filter (where is_wrong) as wrong,
             (array_agg(to_char(month, 'YYYY-MM') order by month) filter (where is_wrong))[:5] as examples
        from compared`,
  },
  {
    name: "every account is on one plan",
    run: (sql) =>
      sql`
      with seen as (
        select a.id, count(t.account_id) = 1 and bool_and(t.plan = a.plan)
                 and bool_and(t.ends_at is not distinct from a.plan_expires_at) as is_right
          from account a left join plan_term t on t.account_id = a.id and t.ended_at is null
         group by a.id)
      select count(*) as seen, count(*) filter (where not is_right) as wrong,
             (array_agg(id) filter (where not is_right))[:5] as examples from seen`,
  },
];

/** Checks every rule, and those of other parts that concern money, on one snapshot. Changes nothing. */
export async function verifyLedger(
  sql: Sql,
  more: readonly LedgerRule[] = [],
): Promise<{ ok: boolean; checks: LedgerCheck[] }> {
  const checks = await sql.begin("isolation level repeatable read read only", async (tx) => {
    const checks: LedgerCheck[] = [];
    for (const rule of [...RULES, ...more]) checks.push(await check(tx, rule));
    return checks;
  });
  return { ok: checks.every(({ ok }) => ok), checks };
}

async function check(sql: Queries, { name, run }: LedgerRule): Promise<LedgerCheck> {
  const { seen, wrong, examples } = (await run(sql))[0]!;
  const ok = wrong === "0";
  const detail = ok
    ? `${seen} checked`
    : `${wrong} of ${seen} are wrong: ${(examples ?? []).join("; ")}`;
  return { name, ok, detail };
}

import type { LedgerRule } from "../../domain/ledger/verify.ts";

/** What must be true of tasks and their money at any moment. */
export const TASK_RULES: readonly LedgerRule[] = [
  {
    name: "a task is over exactly when its hold is resolved",
    run: (sql) =>
      sql`
      with seen as (
        select t.id, case when t.completed_at is null then h.id is null or r.id is not null
                     else h.id is not null or r.id is null end
                 or (t.status <> 'succeeded' and t.status <> 'cancelled' and t.phase <> 'pipeline'
                     and t.completed_at is not null and r.state <> 'released') as is_wrong
          from task t left join hold h on h.id = t.request_id
          left join final_receipt r on r.id = t.request_id
         where t.parent_id is null
           -- Of an archived month there are no receipts.
           and t.request_id collate "C" >= coalesce((
             select ledger_id_at((max(month) + interval '1 month') at time zone 'UTC') from archive_month
              where archived_at is not null), ''))
      select count(*) as seen, count(*) filter (where is_wrong) as wrong,
             (array_agg(id) filter (where is_wrong))[:5] as examples from seen`,
  },
  {
    name: "active tasks are counted",
    run: (sql) =>
      sql`
      with active as (
        select account_id, count(*) as n from task where completed_at is null and parent_id is null
         group by account_id),
      seen as (
        select coalesce(l.account_id, c.account_id) as id, coalesce(l.n, 0) <> coalesce(c.active, 0) as is_wrong
          from active l full join task_load c on c.account_id = l.account_id)
      select count(*) as seen, count(*) filter (where is_wrong) as wrong,
             (array_agg(id) filter (where is_wrong))[:5] as examples from seen`,
  },
];

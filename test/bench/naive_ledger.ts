import type { Sql } from "postgres";
import type { HoldRequest } from "../../src/domain/ledger/hold.ts";

/**
 * What one would write first, on the same tables: two transactions per request, each of which reads the
 * rows for update, decides, and writes. Cash only; no quotas, gifts, expiry or replays.
 */
export async function naivePair(sql: Sql, { id, account, quote }: HoldRequest): Promise<void> {
  const [held, taken] = ["0.123456", "0.003456"];
  const batch = crypto.randomUUID();
  await sql.begin(async (tx) => {
    const [bucket] = await tx<[{ id: string; free: string }]>`
      select id, remaining - frozen as free from balance_bucket
       where account_id = ${account} and source = 'cash' for update`;
    if (Number(bucket.free) < Number(held)) throw new Error("insufficient");
    await tx`update balance_bucket set frozen = frozen + ${held}::numeric where id = ${bucket.id}`;
    await tx`
      insert into hold (id, account_id, request_id, model, kind, scale, amount, units, allocations, held,
                        price, created_at, expires_at)
      values (${id}, ${account}, ${id}, ${quote.model}, ${quote.kind}, 6, ${held}::numeric,
              ${String(quote.units)}::bigint, array[${bucket.id}], array[${held}::numeric],
              ${tx.json(quote.price as never)}, now(), now() + interval '10 minutes')`;
  });
  await sql.begin(async (tx) => {
    const [hold] = await tx<[{ allocations: string[]; held: string[] }]>`
      select allocations, held from hold where id = ${id} for update`;
    const [bucket] = hold.allocations;
    await tx`select from balance_bucket where id = ${bucket!} for update`;
    await tx`
      update balance_bucket set remaining = remaining - ${taken}::numeric, frozen = frozen - ${hold
      .held[0]!}::numeric
       where id = ${bucket!}`;
    await tx`
      with gone as (delete from hold where id = ${id} returning *)
      insert into receipt (id, account_id, request_id, model, kind, state, scale, amount, units, allocations, held,
                           taken, shortfall, beyond_hold, price, usage, created_at, resolved_at, batch)
      select id, account_id, request_id, model, kind, 'settled', scale, amount, units, allocations, held,
             array[${taken}::numeric], 0, beyond_hold, price,
             ${
      tx.json({ input_tokens: 100, output_tokens: 400 })
    }, created_at, now(), ${batch}::uuid
        from gone`;
    await tx`
      insert into transfer (id, unit, debit, credit, amount, account_id, hold_id, kind, created_at, batch)
      values (${
      id + "/1"
    }, 'money', ${bucket!}, 'revenue', ${taken}::numeric, ${account}, ${id}, 'capture',
              now(), ${batch}::uuid)`;
  });
}

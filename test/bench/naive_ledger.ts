import type { Sql } from "postgres";
import type { HoldRequest } from "../../src/domain/ledger/hold.ts";

/**
 * What one would write first, on the same tables: two transactions per request, each of which reads the
 * rows for update, decides, and writes. Cash only; no quotas, gifts, expiry or replays.
 */
export async function naivePair(sql: Sql, { id, account, quote }: HoldRequest): Promise<void> {
  const [held, taken] = ["0.123456", "0.003456"];
  await sql.begin(async (tx) => {
    const [pot] = await tx<[{ id: string; free: string }]>`
      select id, remaining - frozen as free from pot
       where account_id = ${account} and source = 'cash' for update`;
    if (Number(pot.free) < Number(held)) throw new Error("insufficient");
    await tx`update pot set frozen = frozen + ${held}::numeric where id = ${pot.id}`;
    await tx`
      insert into hold (id, account_id, request_id, model, kind, state, scale, amount, units, legs, held,
                        price, created_at, expires_at)
      values (${id}, ${account}, ${id}, ${quote.model}, ${quote.kind}, 'open', 6, ${held}::numeric,
              ${String(quote.units)}::bigint, array[${pot.id}], array[${held}::numeric],
              ${tx.json(quote.price as never)}, now(), now() + interval '10 minutes')`;
  });
  await sql.begin(async (tx) => {
    const [hold] = await tx<[{ legs: string[]; held: string[] }]>`
      select legs, held from hold where id = ${id} and state = 'open' for update`;
    const [pot] = hold.legs;
    await tx`select from pot where id = ${pot!} for update`;
    await tx`
      update pot set remaining = remaining - ${taken}::numeric, frozen = frozen - ${hold
      .held[0]!}::numeric
       where id = ${pot!}`;
    await tx`
      update hold set state = 'settled', taken = array[${taken}::numeric], shortfall = 0, resolved_at = now(),
             usage = ${tx.json({ input_tokens: 100, output_tokens: 400 })}
       where id = ${id}`;
    await tx`
      insert into transfer (id, unit, debit, credit, amount, account_id, hold_id, kind, created_at)
      values (${
      id + "/1"
    }, 'money', ${pot!}, 'revenue', ${taken}::numeric, ${account}, ${id}, 'capture',
              now())`;
  });
}

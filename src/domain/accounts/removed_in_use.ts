import type { ConfigGuard, ConfigObjection } from "../../platform/config/config_store.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";

/** Named in a message. */
const EXAMPLES_MAX = 5;

interface Use {
  kind: "plan" | "price_book";
  id: string;
  accounts: number;
  examples: string[];
}

/**
 * Rejects a configuration that no longer has a plan or a price book that accounts use: they would be charged by other
 * prices without a word. An operator can force it. Not at start, when nothing is known of what was there before.
 */
export function inUseGuard(sql: Queries): ConfigGuard {
  return async function checkInUse(config, before) {
    return before === null ? [] : await findRemovedInUse(sql, config, before);
  };
}

/** What a configuration takes away that accounts use, with the accounts. */
export async function findRemovedInUse(
  sql: Queries,
  config: Config,
  before: Config,
): Promise<ConfigObjection[]> {
  const plans = [...before.plans.keys()].filter((id) => !config.plans.has(id));
  const books = [...before.books.keys()].filter((id) => !config.books.has(id));
  if (plans.length === 0 && books.length === 0) return [];
  try {
    return (await listUses(sql, { plans, books, version: config.version })).map(objectionTo);
  } catch {
    return [{
      path: [plans.length > 0 ? "plans" : "prices"],
      message: `the database could not be asked whether accounts use ${
        [...plans, ...books].join(", ")
      }`,
      suggestion: "Reload when the database answers again.",
      canBeForced: true,
    }];
  }
}

/** None if another node already serves the version: its operator has decided. */
function listUses(
  sql: Queries,
  { plans, books, version }: { plans: string[]; books: string[]; version: string },
): Promise<Use[]> {
  return sql<Use[]>`
    with used as (
      select 'plan' as kind, plan as id, id as account from account
       where plan = any(${plans}) and (plan_expires_at is null or plan_expires_at > now()) and closed_at is null
      union all
      select 'price_book', price_book, id from account where price_book = any(${books}) and closed_at is null)
    select kind, id, count(*)::int as accounts, (array_agg(account order by account))[:${EXAMPLES_MAX}] as examples
      from used
     where (select version from config_history order by number desc limit 1) is distinct from ${version}
     group by kind, id order by kind, id`;
}

function objectionTo({ kind, id, accounts, examples }: Use): ConfigObjection {
  const more = accounts > examples.length ? ", …" : "";
  const subject = `${accounts} ${accounts === 1 ? "account" : "accounts"} (${
    examples.join(", ")
  }${more})`;
  const verb = accounts === 1 ? "uses" : "use";
  return kind === "plan"
    ? {
      path: ["plans"],
      message: `${subject} ${verb} the plan ${id}, which is no longer here`,
      suggestion:
        "Put it back, give them another plan, or go on with `gateway reload --force`: they " +
        "are then on the default plan.",
      canBeForced: true,
    }
    : {
      path: ["prices"],
      message: `${subject} ${verb} the price book ${id}, which is no longer here`,
      suggestion:
        "Put it back, give them another one, or go on with `gateway reload --force`: they " +
        "then pay the prices of their plan.",
      canBeForced: true,
    };
}

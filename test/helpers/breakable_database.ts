import type { Database } from "../../src/platform/database/database.ts";
import { ConnectionError } from "../../src/platform/database/storage_error.ts";

/** What happens to a statement: its answer is lost, it is lost itself, or it is executed when `arrive` is called. */
export type Break = "answer" | "statement" | "late";

/** A database whose statements fail as the test says. */
export interface BreakableDatabase extends Database {
  /** Every statement of a dead process, or of one that has lost its database, fails. */
  isAway: boolean;
  /** The next statement that contains the text fails once. */
  breakNext(how: Break, text: string): void;
  /** Executes what was sent and has not arrived. */
  arrive(): Promise<void>;
  /** Waits until nothing is under way, nor follows at once. */
  rest(): Promise<void>;
  /** How many statements with the text were sent. */
  count(text: string): number;
}

export function breakable(database: Database): BreakableDatabase {
  const sent: string[] = [];
  const breaks = new Map<string, Break>();
  const late: (() => Promise<unknown>)[] = [];
  let running = 0;
  const run = async (execute: () => Promise<unknown>) => {
    running++;
    try {
      return await execute();
    } finally {
      running--;
    }
  };
  const fail = () => Promise.reject(new ConnectionError("CONNECTION_CLOSED", "broken by the test"));
  const sql = new Proxy(database.sql, {
    apply(target, self, args) {
      const [strings] = args as [unknown];
      // A fragment or an identifier is no statement.
      const text = Array.isArray(strings) && "raw" in strings ? strings.join("") : "";
      if (!/^\s*(select|with|insert|update|delete)\b/i.test(text)) {
        return Reflect.apply(target, self, args);
      }
      sent.push(text);
      if (broken.isAway) return fail();
      const found = breaks.entries().find(([part]) => text.includes(part));
      if (found === undefined) return run(() => Reflect.apply(target, self, args));
      const [part, how] = found;
      breaks.delete(part);
      if (how === "answer") return run(() => Reflect.apply(target, self, args)).then(fail);
      if (how === "late") late.push(() => Reflect.apply(target, self, args));
      return fail();
    },
  });
  const broken: BreakableDatabase = {
    ...database,
    kind: database.kind,
    sql,
    isAway: false,
    breakNext: (how, text) => void breaks.set(text, how),
    async arrive() {
      for (const run of late.splice(0)) await run();
    },
    async rest() {
      for (let quiet = 0; quiet < 3; quiet++) {
        await new Promise((resume) => setTimeout(resume, 0));
        if (running > 0) quiet = -1;
      }
    },
    count: (text) => sent.filter((one) => one.includes(text)).length,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
  return broken;
}

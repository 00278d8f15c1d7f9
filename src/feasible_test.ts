import assert from "node:assert/strict";
import type { Plan } from "./config/plan.ts";
import { SettingsError } from "./environment.ts";
import { checkFeasible } from "./feasible.ts";

const storage = (given: Partial<Plan["storage"]>) =>
  ({ storage: { queue: "kv", sessions: "kv", files: "local", ...given } }) as Pick<Plan, "storage">;

Deno.test("on one machine the defaults work, with and without a server", () => {
  const given = { adminToken: undefined, onDeploy: false };
  checkFeasible({ ...given, databaseUrl: undefined }, storage({}));
  checkFeasible({ ...given, databaseUrl: "postgres://x/y" }, storage({}));
  checkFeasible({ ...given, databaseUrl: "postgres://x/y" }, storage({ queue: "postgres" }));
});

Deno.test("a queue in Postgres is refused on the embedded database, with both ways out", () => {
  assert.throws(
    () =>
      checkFeasible(
        { adminToken: undefined, onDeploy: false, databaseUrl: undefined },
        storage({ queue: "postgres" }),
      ),
    (error) =>
      error instanceof SettingsError &&
      /Set DATABASE_URL, or declare storage.queue: kv/.test(error.message),
  );
});

Deno.test("on Deno Deploy everything that cannot work is told at once", () => {
  const refused = (() => {
    try {
      checkFeasible(
        { adminToken: undefined, onDeploy: true, databaseUrl: undefined },
        storage({}),
      );
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  })();
  for (
    const said of [
      "DATABASE_URL",
      "storage.queue: postgres",
      "storage.sessions: postgres",
      "storage.files: s3",
      "ADMIN_TOKEN",
    ]
  ) {
    assert.ok(refused.includes(said), `${said} in ${refused}`);
  }
  checkFeasible(
    { adminToken: "0123456789abcdef", onDeploy: true, databaseUrl: "postgres://x/y" },
    storage({ queue: "postgres", sessions: "postgres", files: "s3" }),
  );
});

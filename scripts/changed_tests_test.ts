import assert from "node:assert/strict";
import { changedTests } from "./changed_tests.ts";

Deno.test("a changed module is left to Deno, which knows who imports it", () => {
  assert.deepEqual(changedTests("--changed", ["src/lib/money.ts", "src/site/parts.tsx"]), [
    ["--changed", "--permit-no-files"],
  ]);
});

Deno.test("a changed file that tests read adds those tests", () => {
  assert.deepEqual(
    changedTests("--changed=main", [
      "src/lib/money.ts",
      "docs/use/chat.md",
      "test/config_cases/a.yaml",
    ]),
    [
      ["--changed=main", "--permit-no-files"],
      ["test/journeys/site_docs_test.ts", "test/config_cases_test.ts"],
    ],
  );
  assert.deepEqual(changedTests("--changed", ["CHANGELOG.md"]), [["scripts"]]);
});

Deno.test("a file of which nothing is known runs everything; no change, nothing", () => {
  assert.equal(changedTests("--changed", ["src/platform/database/functions/hold.sql"]), null);
  assert.equal(changedTests("--changed", ["gateway.yaml", "src/lib/money.ts"]), null);
  assert.deepEqual(changedTests("--changed", []), []);
});

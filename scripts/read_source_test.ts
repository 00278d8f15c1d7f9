import assert from "node:assert/strict";
import { logMessages, metrics } from "./read_source.ts";

Deno.test("log messages are found with their level and fields", () => {
  const text = `
    deps.log.warn("hold release failed", { request_id: id, error });
    this.#log?.error(
      "task failed",
      { "task": task.id, detail: { a: 1 } },
    );
    log.info(\`started \${name}\`);
    log.debug("not listed");`;
  assert.deepEqual(logMessages([{ path: "src/a.ts", text }]), [
    { message: "hold release failed", level: "warn", fields: ["request_id", "error"] },
    { message: "started …", level: "info", fields: [] },
    { message: "task failed", level: "error", fields: ["task", "detail"] },
  ]);
});

Deno.test("metrics are found with their labels", () => {
  const text =
    `new Counter({ name: "tollgate_a_total", help: "A.", labelNames: ["code"], registers })`;
  assert.deepEqual(metrics([{ path: "src/a.ts", text }]), [
    { name: "tollgate_a_total", labels: ["code"], help: "A." },
  ]);
});

import assert from "node:assert/strict";
import { openLog, scrub } from "./log.ts";

function capture(format: "json" | "text" = "json") {
  let text = "";
  const log = openLog({ level: "info", format, write: (more) => text += more });
  return { log, read: () => (log.flush(), text) };
}

Deno.test("a log line is one JSON object with time, level and message", () => {
  const { log, read } = capture();
  log.info("request", { status: 200, path: "/v1/models" });
  const line = JSON.parse(read());
  assert.equal(line.message, "request");
  assert.equal(line.level, "info");
  assert.equal(line.status, 200);
  assert.ok(!Number.isNaN(Date.parse(line.time)));
});

Deno.test("what looks like a credential is replaced wherever it stands in a line", () => {
  const key = "sk-" + "aB3".repeat(14);
  assert.equal(scrub(`GET /v1/models/${key}`), "GET /v1/models/sk-[secret]");
  assert.equal(scrub(`{"authorization":"Bearer abc.def"}`), `{"authorization":"Bearer [secret]"}`);
  assert.equal(scrub("postgres://user:hunter2@db:5432/x"), "postgres://user:[secret]@db:5432/x");
  assert.equal(scrub("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "whsec_[secret]");
  assert.equal(scrub("a risk-free task"), "a risk-free task");
});

Deno.test("an error is logged with its cause", () => {
  const { log, read } = capture();
  log.error("failed", { error: new Error("outer", { cause: new TypeError("inner") }) });
  assert.match(JSON.parse(read()).error, /outer[\s\S]*caused by TypeError: inner/);
});

Deno.test("a text log keeps a report readable", () => {
  const { log, read } = capture("text");
  log.warn("bad file", { report: "line 1\nline 2", count: 2 });
  assert.match(read(), /WARN {2}bad file count=2\nline 1\nline 2\n$/);
});

Deno.test("a request line is scrubbed where a client has a say, in both formats", () => {
  for (const format of ["json", "text"] as const) {
    const { log, read } = capture(format);
    log.request({
      request_id: "req_1",
      method: "GET",
      path: `/v1/models/sk-${"a".repeat(43)}`,
      status: 404,
      ms: 0.123,
      account: "acc_1",
      key: "key_1",
      client_request_id: `sk-${"b".repeat(43)}"`,
      code: "model_unavailable",
    });
    const text = read();
    assert.ok(!text.includes("aaaa") && !text.includes("bbbb"), text);
    if (format === "json") {
      const { time, ...line } = JSON.parse(text);
      assert.ok(!Number.isNaN(Date.parse(time)));
      assert.deepEqual(line, {
        level: "info",
        message: "request",
        request_id: "req_1",
        method: "GET",
        path: "/v1/models/sk-[secret]",
        status: 404,
        ms: 0.12,
        account: "acc_1",
        key: "key_1",
        client_request_id: 'sk-[secret]"',
        code: "model_unavailable",
      });
    }
  }
});

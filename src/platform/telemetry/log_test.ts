import assert from "node:assert/strict";
import { openLog } from "./log.ts";
import { scrub } from "./scrub.ts";

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

Deno.test("keys of every provider are replaced by their shape; ids and words stay", () => {
  const random = "a1B2c3D4e5F6a7b8C9d0".repeat(2);
  const hex = "0123456789abcdef".repeat(8);
  const keys = [
    `sk-proj-${random}`,
    `sk-ant-api03-${random}`,
    `sk-or-v1-${hex}`,
    `gsk_${random}`,
    `AIza${random.slice(0, 35)}`,
    `xai-${random}`,
    `r8_${random}`,
    `key_${hex}`,
    `hf_${random}`,
    `pplx-${random}`,
    `whsec_${random}`,
    `ghp_${random}`,
    `9c1f6a3e-0b5d-4c2e-8a7f-1234567890ab:${hex.slice(0, 32)}`,
    `eyJ${random}.eyJ${random}.${random}`,
  ];
  for (const key of keys) {
    for (const text of [key, `Incorrect API key provided: ${key}.`, `{"key":"${key}"}`]) {
      const secret = key.slice(-12);
      assert.ok(!scrub(text).includes(secret), scrub(text));
    }
  }
  assert.equal(scrub("GET /v1/x?a=1&key=abc&b=2"), "GET /v1/x?a=1&key=[secret]&b=2");
  assert.equal(
    scrub("/content/f?expires=1&signature=1-abc"),
    "/content/f?expires=1&signature=[secret]",
  );
  for (
    const plain of [
      "key_01jx3m8q6w0v9r2t4y6z8a1c3e",
      "ann@example.com",
      "a task-force and a risk-free key_value",
      "9c1f6a3e-0b5d-4c2e-8a7f-1234567890ab: failed",
    ]
  ) assert.equal(scrub(plain), plain);
});

Deno.test("scrubbing takes no longer than the text is long", () => {
  for (const piece of ["//a:", "eyJ-", "sk-", "?key=", "bearer ", "0123456789ab:", "AIza", "@"]) {
    const time = (characters: number) => {
      const text = piece.repeat(Math.ceil(characters / piece.length));
      // The best of some: others use this machine too.
      return Math.min(...Array.from({ length: 5 }, () => {
        const started = performance.now();
        scrub(text);
        return performance.now() - started;
      }));
    };
    time(20_000);
    const [short, long] = [Math.max(time(20_000), 0.5), time(200_000)];
    assert.ok(long < short * 60, `${piece}: ${short} ms, then ${long} ms for ten times as much`);
  }
});

Deno.test("values that are hidden are in no line, in whatever form they are written", () => {
  for (const format of ["json", "text"] as const) {
    const { log, read } = capture(format);
    const secrets = [
      'quote"and\\slash',
      "a value without a shape",
      "slash/and?mark&",
      "line\nbreak key",
    ];
    log.hide([...secrets, "short", undefined, "https://api.example.com/v1"]);
    for (const secret of secrets) {
      log.info("said", { text: `it was ${secret}!`, encoded: encodeURIComponent(secret) });
      log.request({
        request_id: "req_1",
        method: "GET",
        path: `/${encodeURIComponent(secret)}`,
        status: 404,
        ms: 1,
        account: undefined,
        key: undefined,
        client_request_id: secret,
        code: undefined,
      });
    }
    log.info("short at https://api.example.com/v1/models");
    const text = read();
    for (const secret of secrets) {
      const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
      for (const form of forms) assert.ok(!text.includes(form), `${format}: ${form}`);
    }
    assert.match(text, /short at https:\/\/api\.example\.com\/v1\/models/);
  }
});

import assert from "node:assert/strict";
import { ConfigError, type ConfigIssue, formatPath, renderIssues, sortIssues } from "./issues.ts";

function issue(at: Partial<ConfigIssue>): ConfigIssue {
  return {
    severity: "error",
    line: 1,
    column: 1,
    length: 1,
    path: "a.b",
    message: "is wrong",
    ...at,
  };
}

/** The excerpt's two lines without their gutter. */
function excerptOf(source: string, at: Partial<ConfigIssue>): [line: string, below: string] {
  const [, line, below] = renderIssues("gateway.yaml", source, [issue(at)]).split("\n");
  return [line!.slice(8), below!.slice(8)];
}

Deno.test("an issue is shown with position, path, message and suggestion, and its text is underlined", () => {
  const source = "models:\n  - type: chta\n";
  const report = renderIssues("gateway.yaml", source, [
    issue({
      line: 2,
      column: 11,
      length: 4,
      path: "models[0].type",
      suggestion: 'Did you mean "chat"?',
    }),
    issue({ severity: "warning", path: "", message: "is odd" }),
  ]);
  assert.equal(
    report,
    `gateway.yaml:2:11 error models[0].type: is wrong. Did you mean "chat"?
    2 |   - type: chta
      |           ^^^^

gateway.yaml:1:1 warning is odd
    1 | models:
      | ^`,
  );
});

Deno.test("colors are only there when asked for", () => {
  assert.ok(!renderIssues("f", "a", [issue({})]).includes("\x1b"));
  assert.ok(renderIssues("f", "a", [issue({})], { colors: true }).includes("\x1b[31merror\x1b[0m"));
});

Deno.test("the caret position counts tabs, wide characters and zero-width marks", () => {
  assert.deepEqual(excerptOf("a:\tb", { column: 4 }), ["a: b", "   ^"]);
  assert.deepEqual(excerptOf("日本: x", { column: 5 }), ["日本: x", "      ^"]);
  assert.deepEqual(excerptOf("🚀🚀: x", { column: 7 }), ["🚀🚀: x", "      ^"]);
  assert.deepEqual(excerptOf("e\u0301: x", { column: 5 }), ["e\u0301: x", "   ^"]);
  assert.deepEqual(excerptOf("k: 日本", { column: 4, length: 2 }), ["k: 日本", "   ^^^^"]);
});

Deno.test("a very long line is cut around the issue", () => {
  const source = `${"x".repeat(1_000_000)}BAD${"y".repeat(1_000_000)}`;
  const [line, below] = excerptOf(source, { column: 1_000_001, length: 3 });
  assert.ok(line.length < 200);
  assert.ok(line.startsWith("…x") && line.endsWith("y…"));
  assert.equal(line.slice(below.indexOf("^"), below.lastIndexOf("^") + 1), "BAD");
});

Deno.test("the underline ends with the line, and has at least one caret past its end", () => {
  assert.deepEqual(excerptOf("name: |", { column: 7, length: Number.MAX_SAFE_INTEGER }), [
    "name: |",
    "      ^",
  ]);
  assert.deepEqual(excerptOf("ab", { column: 3 }), ["ab", "  ^"]);
  assert.deepEqual(excerptOf("", {}), ["", "^"]);
});

Deno.test("lines are counted as by the parser, and control characters are not printed", () => {
  assert.deepEqual(excerptOf("a: 1\r\nb: 2\r\n", { line: 2 }), ["b: 2", "^"]);
  assert.deepEqual(excerptOf("# a\rb\nc: 1", { line: 2 }), ["c: 1", "^"]);
  assert.deepEqual(excerptOf("\uFEFFa: 1", { column: 4 }), ["a: 1", "   ^"]);
  assert.deepEqual(excerptOf("a: \x1b[2Jx", { column: 8 }), ["a:  [2Jx", "       ^"]);
});

Deno.test("an issue beyond the end of the text is shown without an excerpt", () => {
  assert.equal(renderIssues("f", "a", [issue({ line: 9 })]), "f:9:1 error a.b: is wrong");
});

Deno.test("a key written into the file is hidden in every excerpt that shows its line", () => {
  const covered = (line: string) => excerptOf(line, {})[0];
  assert.equal(covered("{ api_key: sk-live-1234, x: 1 }"), "{ api_key: ••••••••••••, x: 1 }");
  assert.equal(covered('    api_key: "sk-live'), '    api_key: "•••••••');
  assert.equal(covered(`"api_key" : 'sk-live' # mine`), `"api_key" : '•••••••' # mine`);
  assert.equal(covered("api_key: Bearer sk-live"), "api_key: •••••• •••••••");
  for (
    const line of ["api_key: ${NAME}", 'api_key: "${NAME:-x}"', "api_key: *key", "api_keys: 3"]
  ) {
    assert.equal(covered(line.replace("*key", "${KEY}")), line.replace("*key", "${KEY}"));
  }
});

Deno.test("a path is formatted as in JavaScript", () => {
  assert.equal(formatPath([]), "");
  assert.equal(
    formatPath(["models", 3, "upstreams", 0, "provider"]),
    "models[3].upstreams[0].provider",
  );
  assert.equal(formatPath(["headers", "X-Key"]), "headers.X-Key");
  assert.equal(formatPath(["routes", "/a b", "x\ny"]), 'routes["/a b"]["x\\ny"]');
  assert.ok(formatPath(["k".repeat(5000)]).length < 80);
});

Deno.test("issues are sorted by position, without duplicates", () => {
  const [late, early, again] = [
    issue({ line: 3 }),
    issue({ line: 1, column: 9 }),
    issue({ line: 3, path: "c" }),
  ];
  assert.deepEqual(sortIssues([late, early, again]), [early, late]);
});

Deno.test("ConfigError counts errors, not warnings", () => {
  const error = new ConfigError("gateway.yaml", "", [issue({}), issue({ severity: "warning" })]);
  assert.equal(error.message, "gateway.yaml has 1 error");
});

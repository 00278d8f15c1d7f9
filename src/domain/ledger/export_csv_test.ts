import assert from "node:assert/strict";
import type { Queries } from "../../platform/database/database.ts";
import { exportCsv, type ExportQuery } from "./export_csv.ts";

const row = (more: Record<string, unknown> = {}) => ({
  at: "2026-01-31 12:00:00.123456+00",
  id: "t_1",
  kind: "capture",
  unit: "money",
  amount: "-1.500000000000",
  bucket: "cash",
  request_id: "req_1",
  reference: null,
  reason: null,
  shortfall: null,
  model: "m",
  endpoint: null,
  usage: null,
  upstream: null,
  cost: null,
  created_at: new Date("2026-01-31T12:00:00.123Z"),
  ...more,
});

/** A fragment of a query: its parameters, also those of the fragments in it. */
interface Fragment {
  parameters: unknown[];
  then(resolve: (rows: unknown[]) => void): void;
}

/** Exports these pages; answers the lines, and the parameters of each query of a page. No month is archived. */
async function exported(movements: unknown[][], query: Partial<ExportQuery> = {}) {
  const pages = [[], ...movements];
  const queries: unknown[][] = [];
  const sql = (_: unknown, ...values: (unknown | Fragment)[]): Fragment => ({
    parameters: values.flatMap((value) => (value as Partial<Fragment>)?.parameters ?? [value]),
    then(resolve) {
      queries.push(this.parameters);
      resolve(pages.shift()!);
    },
  });
  const text: string[] = [];
  for await (
    const part of exportCsv(sql as unknown as Queries, { account: "acc_1", ...query })
  ) text.push(part);
  const [columns, ...lines] = text.join("").split("\r\n");
  assert.equal(lines.pop(), "", "the last line ends too");
  return { columns, lines, queries: queries.slice(1) };
}

/** The endpoint and twelve counts of a line that has none. */
const UNUSED = ",".repeat(13);

const lineOf = async (more: Record<string, unknown>) => (await exported([[row(more)]])).lines[0];

Deno.test("each movement is a line, with empty fields for what it has not", async () => {
  const { columns, lines, queries } = await exported([[row()]]);
  assert.equal(
    columns,
    "time,id,kind,unit,amount,from_or_to,request_id,reference,reason,shortfall,model,key,key_name,user,metadata,capped," +
      "endpoint,input_tokens,cached_input_tokens,cache_write_tokens,cache_write_1h_tokens,audio_input_tokens," +
      "output_tokens,reasoning_tokens,audio_output_tokens,web_searches,images,seconds,characters",
  );
  assert.deepEqual(lines, [
    `2026-01-31T12:00:00.123Z,t_1,capture,money,-1.50,cash,req_1,,,,m,,,,,${UNUSED}`,
  ]);
  assert.deepEqual(queries, [["acc_1", 1000]]);
  const two = (await exported([[row(), row({ id: "t_2" })]])).lines;
  assert.deepEqual(two.map((line) => line.split(",").slice(0, 2).join()), [
    "2026-01-31T12:00:00.123Z,t_1",
    "2026-01-31T12:00:00.123Z,t_2",
  ]);
  assert.equal(
    await lineOf({ unit: "text", amount: "-7", request_id: null, model: null, bucket: "quota" }),
    `2026-01-31T12:00:00.123Z,t_1,capture,text,-7,quota,,,,,,,,,,${UNUSED}`,
  );
  assert.match((await lineOf({ shortfall: "0.500000000000" }))!, /,0\.50,m,,,,,,+$/);
  assert.match((await lineOf({ is_capped: true }))!, /,m,,,,,true,+$/);
});

Deno.test("what a request used has a column each, and what it costs is for operators", async () => {
  const used = row({
    endpoint: "chat",
    usage: { input_tokens: 3, cached_input_tokens: 2, output_tokens: 1, seconds: "1.5" },
    upstream: "open/gpt",
    cost: "0.250000000000",
  });
  const { lines } = await exported([[used]]);
  assert.match(lines[0]!, /,chat,3,2,,,,1,,,,,1\.5,$/);
  const operators = await exported([[used]], { isForOperator: true });
  assert.match(operators.columns!, /,characters,upstream,cost$/);
  assert.equal(operators.lines[0], `${lines[0]},open/gpt,0.25`);
});

Deno.test("text that a person chose is quoted, and never a formula", async () => {
  assert.match((await lineOf({ reference: 'say "hi", please' }))!, /,"say ""hi"", please",/);
  assert.match((await lineOf({ reason: "two\nlines" }))!, /,"two\nlines",/);
  for (const first of ["=", "+", "-", "@", "\t"]) {
    assert.ok((await lineOf({ reference: `${first}1` }))!.includes(`,'${first}1,`), first);
    assert.ok((await lineOf({ reason: `${first}1` }))!.includes(`,'${first}1,`), first);
  }
  assert.ok((await lineOf({ reference: "a=1" }))!.includes(",a=1,"));
});

Deno.test("a full page is followed by the next, which begins after its last line", async () => {
  const full = Array.from({ length: 1000 }, (_, n) => row({ id: `t_${n}` }));
  const { lines, queries } = await exported([full, full.slice(0, 2)]);
  assert.equal(lines.length, 1002);
  assert.deepEqual(queries, [
    ["acc_1", 1000],
    ["acc_1", "2026-01-31 12:00:00.123456+00", "t_999", 1000],
  ]);
  assert.equal((await exported([full, []])).queries.length, 2);
});

Deno.test("an export has a beginning and an end, if they are asked for", async () => {
  const [from, to] = [new Date(1), new Date(2)];
  assert.deepEqual((await exported([[]], { from })).queries, [["acc_1", from, 1000]]);
  assert.deepEqual((await exported([[]], { to })).queries, [["acc_1", to, 1000]]);
});

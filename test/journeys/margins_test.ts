import assert from "node:assert/strict";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { ADMIN_TOKEN, errorOf } from "../helpers/open_gateway.ts";

const CONFIG = Deno.readTextFileSync(new URL("../helpers/drama_config.yaml", import.meta.url));

Deno.test("GET /admin/v1/margins answers 200 with revenue and cost, as JSON and as CSV", async () => {
  await using gateway = await openMediaGateway({ config: CONFIG, cash: "10" });
  const image = { model: "draw", prompt: "a tide", size: "64x112" };
  const { id } = await gateway.submit("/v1/images/generations", image);
  const { charge } = await gateway.ended(id);
  const month = new Date().toISOString().slice(0, 7);
  const res = await gateway.admin("GET", "/margins");
  assert.equal(res.status, 200);
  const { data, totals, currency, group_by, archived_before, archived_partly } = await res.json();
  const figures = {
    ...{ requests: 1, failed: 0, revenue: charge.settled, gift: "0.00", quota: 0 },
    ...{ shortfall: "0.00", capped: 0, cost: "0.03", uncosted: 0, uncosted_revenue: "0.00" },
  };
  const group = { model: "draw", provider: "canary-provider", account: gateway.account, month };
  const { margin, margin_percent, ...line } = data[0];
  assert.deepEqual(line, { ...group, plan: "free", ...figures });
  assert.equal(Number(margin).toFixed(6), (Number(charge.settled) - 0.03).toFixed(6));
  assert.deepEqual(totals, { ...figures, margin, margin_percent });
  assert.deepEqual([data.length, currency, archived_before, archived_partly], [1, "EUR", null, []]);
  assert.deepEqual(group_by, ["month", "model", "provider", "account", "plan"]);

  const asCsv = await gateway.admin("GET", "/margins?group_by=model,plan&format=csv");
  assert.equal(asCsv.headers.get("content-type"), "text/csv; charset=utf-8");
  const csv = await asCsv.text();
  assert.equal(
    csv,
    "model,plan,requests,failed,revenue,gift,quota,shortfall,capped,cost,uncosted,uncosted_revenue,margin," +
      `margin_percent\r\ndraw,free,1,0,${charge.settled},0.00,0,0.00,0,0.03,0,0.00,${margin},${margin_percent}\r\n`,
  );
  const accepted = await gateway.fetch("/admin/v1/margins?group_by=model,plan", {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, accept: "text/csv" },
  });
  assert.equal(await accepted.text(), csv);
});

Deno.test("GET /admin/v1/margins says that a cost is unknown where none is declared", async () => {
  const config = CONFIG.replace(', cost: { price: "0.03", unit: image }', "");
  await using gateway = await openMediaGateway({ config, cash: "10" });
  const image = { model: "draw", prompt: "a tide", size: "64x112" };
  await gateway.ended((await gateway.submit("/v1/images/generations", image)).id);
  const { data: [line], totals } = await (await gateway.admin("GET", "/margins?group_by=model"))
    .json();
  assert.deepEqual([line.cost, line.margin, line.uncosted], [null, null, 1]);
  assert.equal(totals.cost, null);
  const csv = await (await gateway.admin("GET", "/margins?group_by=model&format=csv")).text();
  const [names, values] = csv.split("\r\n").map((text) => text.split(","));
  const of = (name: string) => values![names!.indexOf(name)];
  assert.deepEqual([of("cost"), of("margin"), of("uncosted")], ["unknown", "unknown", "1"]);
});

Deno.test("GET /admin/v1/margins answers 400 for a group, day or month that there is not", async () => {
  await using gateway = await openMediaGateway();
  const cases: [query: string, param: string][] = [
    ["group_by=model,colour", "group_by"],
    ["group_by=", "group_by"],
    ["group_by=model,model", "group_by"],
    ["from=yesterday", "from"],
    ["to=2026-01-01T12:00:00Z", "to"],
    ["month=2026-13", "month"],
    ["month=2026-1", "month"],
    ["format=xml", "format"],
  ];
  for (const [query, param] of cases) {
    const res = await gateway.admin("GET", `/margins?${query}`);
    assert.equal(res.status, 400, query);
    assert.equal((await errorOf(res)).param, param, query);
  }
});

import assert from "node:assert/strict";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { openStudio, studioConfig } from "../helpers/studio.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const IMAGES = "/v1/images/generations";

function image(gateway: MediaGateway, orders: string, more: Record<string, unknown> = {}) {
  return gateway.submit(IMAGES, {
    model: "image-model",
    prompt: `[[simulate: ${orders}]] x`,
    ...more,
  });
}

/** What was logged of failed downloads of a task. */
function failuresOf(gateway: MediaGateway, id: string): Json[] {
  return gateway.logged().split("\n").filter((line) => line.includes("result download failed"))
    .map((line) => JSON.parse(line)).filter(({ task_id }) => task_id === id);
}

for (const fault of ["cut", "hang"]) {
  Deno.test(
    `a download that ${fault}s is tried four times, each is logged, and the task fails for free`,
    STRICT,
    async () => {
      await using gateway = await openMediaGateway({
        timing: { download: { silenceMs: 200, retryMs: 20 } },
      });
      const { id } = await image(gateway, `output=${fault}`);
      const task = await gateway.ended(id, 20);
      assert.equal(task.status, "failed");
      assert.equal(task.error.code, "upstream_failed");
      assert.match(task.error.message, /could not be downloaded/);
      const failures = failuresOf(gateway, id);
      assert.deepEqual(failures.map(({ tries }) => tries), [1, 2, 3, 4]);
      for (const { level, index, provider } of failures) {
        assert.deepEqual([level, index, provider], ["warn", 0, "canary-provider"]);
      }
      assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
      await gateway.verify();
    },
  );
}

Deno.test("a slow download is kept as long as bytes come", STRICT, async () => {
  await using gateway = await openMediaGateway({
    timing: { download: { silenceMs: 500, tries: 1 } },
  });
  const { id } = await image(gateway, "output=slow");
  assert.equal((await gateway.ended(id)).status, "succeeded");
  assert.equal((await gateway.balance()).available, "99.96");
  await gateway.verify();
});

Deno.test(
  "of two results one hangs: the other is delivered, and only that one is paid",
  STRICT,
  async () => {
    await using studio = openStudio();
    await using gateway = await openMediaGateway({
      config: studioConfig(),
      files: {
        "studio.yaml": studio.describe({ canFind: true }),
        "blind.yaml": studio.describe({ canFind: false }),
      },
      timing: { download: { silenceMs: 200, retryMs: 20 } },
    });
    const { id } = await gateway.submit(IMAGES, { model: "studio", prompt: "hold-output", n: 2 });
    const task = await gateway.ended(id, 20);
    assert.equal(task.status, "succeeded");
    assert.equal(task.output.length, 1);
    assert.equal(failuresOf(gateway, id).length, 4);
    assert.equal(studio.fetches.get(`${id}/0`), 1, "what was there is not fetched again");
    assert.equal(studio.submissions.get(id), 1);
    assert.deepEqual(await gateway.balance(), { available: "99.96", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "66 downloads that hang keep no task of another account or another provider waiting",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({
      config: await twoProviders(),
      timing: { download: { silenceMs: 8_000, tries: 1 } },
    });
    const { sql } = gateway.gateway.database;
    const hung: string[] = [];
    for (let n = 0; n < 66; n++) hung.push((await image(gateway, "output=hang")).id);
    await until("downloads hang", async () => {
      const [{ n }] = await sql<[{ n: number }]>`
        select count(*)::int as n from task where phase = 'accepted' and lease_until > now()`;
      return n >= 20;
    }, 20);

    const other = await gateway.newKey({ name: "other" });
    const res = await gateway.admin("POST", `/accounts/${other.account}/credits`, {
      kind: "cash",
      amount: "1",
      reference: "other",
    });
    assert.equal(res.status, 201, await res.text());
    const authorization = { authorization: `Bearer ${other.key}` };
    const begun = [
      await gateway.submit(IMAGES, { model: "image-model", prompt: "x" }, authorization),
      await gateway.submit(IMAGES, { model: "calm", prompt: "x" }, authorization),
      // The same account, whose downloads from the other provider hang.
      await gateway.submit(IMAGES, { model: "calm", prompt: "x" }),
    ];
    await until("the others are done", async () => {
      const rows = await sql<{ status: string }[]>`
        select status from task where id in ${sql(begun.map(({ id }) => id))}`;
      return rows.every(({ status }) => status === "succeeded");
    }, 6);
    const [{ n }] = await sql<[{ n: number }]>`
      select count(*)::int as n from task where id in ${sql(hung)} and completed_at is null`;
    assert.equal(n, 66, "the others went on while all of them hung");
    for (const id of hung) assert.equal((await gateway.ended(id, 60)).status, "failed");
    assert.deepEqual(await gateway.balance(), { available: "99.96", frozen: "0.00" });
    await gateway.verify();
  },
);

/** The usual models on one provider, and `calm` on another. */
async function twoProviders(): Promise<string> {
  const usual = await Deno.readTextFile(
    new URL("../helpers/media_config.yaml", import.meta.url),
  );
  return usual
    .replace(
      "providers:\n",
      'providers:\n  calm: { adapter: simulator, api_key: "${K:-k}", headers: { x-simulate: "seconds=0" } }\n',
    )
    .replace(
      "models:\n",
      `models:
  - id: calm
    name: Calm
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [64x64] }
    upstreams: [{ provider: calm, model: canary-image }]
`,
    )
    .replace(
      "    entries:\n",
      '    entries:\n      - { model: calm, billing_type: per_call, price: "0.04", unit: image }\n',
    );
}

import assert from "node:assert/strict";
import { decimal, formatDecimal } from "../../src/lib/money.ts";
import type { Json } from "../helpers/chat_gateway.ts";
import { startFakeUpstream } from "../helpers/fake_upstream.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { png, wav } from "../helpers/media.ts";
import { statusOf } from "../helpers/status_of.ts";

const CONFIG = Deno.readTextFileSync(
  new URL("../helpers/drama_config.yaml", import.meta.url),
);
const PATH = "/v1/dramas/generations";
const CALLBACK = "http://127.0.0.1:9/hook";

const open = (cash = "100") => openMediaGateway({ config: CONFIG, cash });
const request = (more: Record<string, unknown> = {}) => ({
  model: "play",
  title: "Tides",
  script: "Mara waits at the sea for Jon.",
  characters: [{ name: "Mara" }, { name: "Jon" }],
  business_id: crypto.randomUUID(),
  callback_url: CALLBACK,
  ...more,
});

async function refused(gateway: MediaGateway, body: unknown): Promise<Json> {
  const before = await gateway.count("task");
  const res = await gateway.post(PATH, body);
  const { error } = await res.json();
  assert.equal(await gateway.count("task"), before);
  return { status: res.status, code: error.code, param: error.param };
}

/** What the receipt lists adds up to what the ledger took, to the last digit. */
function assertAddsUp(task: Json): void {
  const sum = task.charge.usage.items.reduce(
    (sum: bigint, { amount }: Json) => sum + decimal(amount),
    0n,
  );
  assert.equal(formatDecimal(sum), task.charge.settled);
}

Deno.test("POST /v1/dramas/generations makes script, roles, storyboard and one video, and lists what each cost", async () => {
  await using gateway = await open();
  const reference = await gateway.upload("mara.png", png());
  const task = await gateway.submit(
    PATH,
    request({ characters: [{ name: "Mara", reference_file_id: reference }, { name: "Jon" }] }),
  );
  assert.equal(task.type, "drama");
  assert.deepEqual(task.stages.map(({ stage, status }: Json) => [stage, status]), [
    ["script", "waiting"],
    ["roles", "waiting"],
    ["storyboard", "waiting"],
    ["video", "waiting"],
  ]);
  const done = await gateway.ended(task.id, 90);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.equal(done.progress, 100);
  const [script, roles, storyboard, video] = done.stages;
  assert.ok(done.stages.every(({ status }: Json) => status === "succeeded"));
  assert.equal(script.output[0].content.scenes.length, 3);
  for (const { output: [text] } of [script, roles]) {
    const { type, url, file_id, mime_type, bytes, content, expires_at } = text;
    assert.ok(Date.parse(expires_at) > Date.now());
    const file = await fetch(url);
    assert.equal(file.status, 200, type);
    assert.equal(file.headers.get("content-type"), mime_type);
    const written = await file.text();
    assert.deepEqual(JSON.parse(written), content);
    assert.equal(new TextEncoder().encode(written).length, bytes);
    const found = await (await gateway.get(`/v1/files/${file_id}`)).json();
    assert.deepEqual([found.mime_type, found.purpose], ["application/json", "output"]);
  }
  const names = roles.output[0].content.characters.map(({ name }: Json) => name);
  assert.ok(names.includes("Mara") && names.includes("Jon"));
  assert.deepEqual(
    storyboard.output.map(({ shot, width, height }: Json) => [shot, width, height]),
    [
      [1, 64, 112],
      [2, 64, 112],
      [3, 64, 112],
    ],
  );
  assert.equal(video.output.filter(({ type }: Json) => type === "video").length, 3);

  assert.equal(done.output.length, 1);
  const [final] = done.output;
  assert.equal(final.mime_type, "video/mp4");
  assert.ok(final.duration >= 3, String(final.duration));
  assert.ok(final.height > final.width);
  assert.equal((await (await fetch(final.url)).bytes()).length, final.bytes);

  const { items } = done.charge.usage;
  const listed = items.map(({ stage, shot }: Json) =>
    shot === undefined ? stage : `${stage}/${shot}`
  );
  for (const wanted of ["script", "roles", "storyboard/1", "storyboard/3", "video/2", "drama"]) {
    assert.ok(listed.includes(wanted), wanted);
  }
  assertAddsUp(done);
  assert.equal(done.usage.total_units, 3);
  const receipt = await (await gateway.get(`/v1/usage/${done.request_id}`)).json();
  assert.deepEqual(receipt.usage.items, items);
  // Operators see what it cost: the sum of its parts.
  const { sql } = gateway.gateway.database;
  const [recorded] = await sql`
    select r.upstream, r.cost = sum(p.cost) as is_sum, count(*)::int as parts,
           sum(p.amount)::float as amount, bool_and(p.cost > 0 or p.stage = 'drama') as have_cost,
           max(p.upstream) filter (where p.stage = 'script') as script,
           sum(p.cost) filter (where p.stage = 'storyboard')::float as images
      from receipt r join receipt_part p on p.receipt_id = r.id
     where r.id = ${done.request_id} group by r.upstream, r.cost`;
  assert.deepEqual({ ...recorded }, {
    ...{ upstream: null, is_sum: true, parts: items.length, amount: Number(done.charge.settled) },
    ...{ have_cost: true, script: "canary-provider/chat", images: 0.09 },
  });
  const { frozen } = await gateway.balance();
  assert.equal(frozen, "0.00");
  await gateway.verify();
});

Deno.test("the cost of a drama is not known where that of a part is not", async () => {
  await using gateway = await openMediaGateway({
    config: CONFIG.replace(', cost: { price: "0.03", unit: image }', ""),
    cash: "100",
  });
  const body = request({ stage: "storyboard", callback_url: undefined });
  const task = await gateway.ended((await gateway.submit(PATH, body)).id, 60);
  assert.equal(task.status, "succeeded", JSON.stringify(task));
  const { sql } = gateway.gateway.database;
  const [receipt] = await sql`select cost from receipt`;
  assert.equal(receipt!.cost, null);
  const [parts] =
    await sql`select count(cost)::int as known, count(*)::int as all from receipt_part`;
  assert.deepEqual({ ...parts }, { known: 3, all: 6 }, "script, roles and the fee");
});

Deno.test("a quote of a drama lists its parts and its fee", async () => {
  await using gateway = await open();
  const res = await gateway.post("/v1/quotes", { path: "/dramas/generations", body: request() });
  const { amount, parts, from } = await res.json();
  assert.deepEqual(
    parts.map(({ stage, model, count }: Json) => [stage, model, count]),
    [
      ["script", "talk", 1],
      ["roles", "talk", 1],
      ["storyboard", "draw", 3],
      ["video", "video-model", 3],
      ["speech", "say", 3],
      ["drama", "play", 1],
    ],
  );
  // 3 × 0.04, 3 × 0.08, 3 × 100 × 0.50/1K, 3 × 0.02
  assert.deepEqual(parts.slice(2).map((part: Json) => part.amount), [
    "0.12",
    "0.24",
    "0.15",
    "0.06",
  ]);
  assert.equal(from.cash, amount);
  const prices = await (await gateway.get("/v1/pricing/models")).json();
  const own = prices.data.find(({ model }: Json) => model === "play");
  assert.deepEqual(own.parts.map(({ stage, per }: Json) => [stage, per]), [
    ["script", "drama"],
    ["roles", "drama"],
    ["storyboard", "shot"],
    ["video", "shot"],
    ["speech", "shot"],
  ]);
});

Deno.test("a drama goes as far as its stage, and from_task goes on without making or paying twice", async () => {
  await using gateway = await open();
  const first = await gateway.submit(PATH, request({ stage: "script", callback_url: undefined }));
  const script = await gateway.ended(first.id);
  assert.equal(script.status, "succeeded", JSON.stringify(script));
  assert.equal(script.output[0].type, "script");
  assert.deepEqual(script.charge.usage.items.map(({ stage }: Json) => stage), ["script", "drama"]);
  assertAddsUp(script);

  const next = { model: "play", from_task: script.id, business_id: "next" };
  const second = await gateway.submit(PATH, { ...next, stage: "storyboard" });
  const storyboard = await gateway.ended(second.id);
  assert.equal(storyboard.status, "succeeded", JSON.stringify(storyboard));
  // URLs are signed anew.
  const unsigned = ([{ url: _, expires_at: __, ...text }]: Json[]) => text;
  assert.deepEqual(unsigned(storyboard.stages[0].output), unsigned(script.stages[0].output));
  assert.equal(storyboard.output.length, 3);
  assert.deepEqual(
    storyboard.charge.usage.items.map(({ stage }: Json) => stage),
    ["roles", "storyboard", "storyboard", "storyboard", "drama"],
  );
  const third = await gateway.submit(PATH, {
    model: "play",
    from_task: storyboard.id,
    business_id: "last",
    callback_url: CALLBACK,
  });
  const video = await gateway.ended(third.id, 60);
  assert.equal(video.status, "succeeded", JSON.stringify(video));
  assert.ok(
    video.charge.usage.items.every(({ stage }: Json) => ["video", "drama"].includes(stage)),
  );
  assertAddsUp(video);
  await gateway.verify();
});

Deno.test("a shot that fails is tried again; then the drama fails, what is there is listed and only that is paid", async () => {
  await using gateway = await open();
  const task = await gateway.submit(PATH, request({ model: "failing-drama" }));
  const done = await gateway.ended(task.id, 60);
  assert.equal(done.status, "failed", JSON.stringify(done));
  assert.match(done.error.message, /^Shot \d failed \(video\)/);
  assert.deepEqual(done.stages.map(({ status }: Json) => status), [
    ...["succeeded", "succeeded", "succeeded", "failed"],
  ]);
  assert.equal(done.stages[2].output.length, 3);
  assert.ok(!JSON.stringify(done.charge.usage.items).includes("failing-video"));
  assertAddsUp(done);
  assert.notEqual(done.charge.settled, "0.00");
  // It can be taken up where it broke, with a model that works.
  const rest = await gateway.submit(PATH, {
    model: "play",
    from_task: done.id,
    business_id: "rest",
    callback_url: CALLBACK,
  });
  const mended = await gateway.ended(rest.id, 60);
  assert.equal(mended.status, "succeeded", JSON.stringify(mended));
  assert.ok(
    mended.charge.usage.items.every(({ stage }: Json) => ["video", "drama"].includes(stage)),
  );
  await gateway.verify();
});

Deno.test("a model that does not answer in form three times fails the drama and costs nothing", async () => {
  await using gateway = await open();
  const task = await gateway.submit(PATH, request({ model: "babbled", stage: "script" }));
  const done = await gateway.ended(task.id, 60);
  assert.equal(done.status, "failed");
  assert.match(done.error.message, /script stage failed/);
  assert.equal(done.charge.settled, "0.00");
  assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
  // The operator pays for all three answers.
  const { sql } = gateway.gateway.database;
  const parts = await sql`
    select stage, upstream, amount::float as amount, cost > 0 as has_cost from receipt_part
     where receipt_id = ${done.request_id} order by stage desc, position`;
  const answer = { stage: "script", upstream: "babbling/chat", amount: 0, has_cost: true };
  const fee = { stage: "drama", upstream: null, amount: 0, has_cost: false };
  assert.deepEqual(parts.map((part) => ({ ...part })), [answer, answer, answer, fee]);
  const { data } = await (await gateway.admin("GET", "/margins?group_by=provider")).json();
  assert.deepEqual(
    data.map(({ provider, requests, failed, revenue, uncosted }: Json) => [
      ...[provider, requests, failed, revenue, uncosted],
    ]),
    [["babbling", 0, 0, "0.00", 0], [null, 0, 1, "0.00", 0]],
  );
  assert.ok(Number(data[0].cost) > 0);
  await gateway.verify();
});

Deno.test("a text that had to be requested again costs twice and is charged once", async () => {
  await using upstream = startFakeUpstream();
  const replyOf = (content: string) => ({
    status: 200,
    body: {
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1000, completion_tokens: 100 },
    },
  });
  const scene = { heading: "The sea", action: "Mara waits.", dialogue: [] };
  const script = { synopsis: "She waits.", scenes: [scene, scene, scene] };
  upstream.answer(replyOf("I would rather not."), replyOf(JSON.stringify(script)));
  const provider =
    `  open: { adapter: openai, base_url: "${upstream.url}/v1", api_key: "\${KEY:-k}" }\n`;
  await using gateway = await openMediaGateway({
    config: CONFIG.replace("models:\n", `${provider}models:\n`).replace(
      "provider: canary-provider,\n          model: chat",
      "provider: open,\n          model: chat",
    ),
    cash: "100",
  });
  const body = request({ stage: "script", callback_url: undefined });
  const done = await gateway.ended((await gateway.submit(PATH, body)).id, 60);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.equal(upstream.seen.length, 2);
  // 1,000 × 0.15/1M + 100 × 0.61/1M, once; 1,000 × 0.10/1M + 100 × 0.40/1M, twice.
  assert.equal(done.charge.settled, "0.000211");
  assert.deepEqual(done.charge.usage.items.map(({ stage }: Json) => stage), ["script", "drama"]);
  const { data } = await (await gateway.admin("GET", "/margins?group_by=provider")).json();
  assert.deepEqual(
    data.map(({ provider, requests, revenue, cost, margin }: Json) => [
      ...[provider, requests, revenue, cost, margin],
    ]),
    [["open", 0, "0.000211", "0.00028", "-0.000069"], [null, 1, "0.00", "0.00", "0.00"]],
  );
  const [receipt] = await gateway.gateway.database.sql`select cost::float as cost from receipt`;
  assert.equal(receipt!.cost, 0.00028);
  await gateway.verify();
});

Deno.test("quotas pay for the texts, images and videos of a drama, and money for the rest", async () => {
  const plans = "plans: { free: {}, pro: { quotas: { text: 1000000, image: 2, video: 100 } } }\n";
  await using gateway = await openMediaGateway({ config: plans + CONFIG, cash: "100" });
  const planned = await gateway.admin("PUT", `/accounts/${gateway.account}/plan`, { plan: "pro" });
  assert.equal(planned.status, 200, await planned.text());
  const quote = await gateway.post("/v1/quotes", { path: "/dramas/generations", body: request() });
  const { from } = await quote.json();
  // An image of three, three lines of 100 characters, and the fee of three shots.
  assert.equal(from.cash, "0.25");

  const done = await gateway.ended((await gateway.submit(PATH, request())).id, 90);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.equal(done.charge.held, "0.25");
  const { items } = done.charge.usage;
  const sum = (isWanted: (item: Json) => boolean) =>
    items.filter(isWanted).reduce((sum: bigint, item: Json) => sum + decimal(item.amount), 0n);
  const lines = sum(({ usage }) => "characters" in usage);
  // A third of the images, the lines and the fee; texts and videos are in the quotas.
  assert.equal(done.charge.settled, formatDecimal(decimal("0.04") + lines + decimal("0.06")));
  const { quotas } = await (await gateway.get("/v1/balance")).json();
  assert.deepEqual([quotas.image, quotas.video], [0, 97]);
  const tokens = items.filter(({ stage }: Json) => stage === "script" || stage === "roles")
    .flatMap(({ usage }: Json) => [usage.input_tokens, usage.output_tokens])
    .reduce((a: number, b: number) => a + b);
  assert.equal(quotas.text, 1_000_000 - tokens);
  assert.equal(done.charge.from.quota, tokens + 2 + 3);
  const { totals } = await (await gateway.admin("GET", "/margins")).json();
  assert.deepEqual([totals.quota, totals.revenue], [tokens + 5, done.charge.settled]);
  await gateway.verify();
});

Deno.test("a quota for other models pays for no part of a drama", async () => {
  const others = "{ image: { amount: 100, models: [other-draw] }, video: 100 }";
  const plans = `plans: { free: {}, pro: { quotas: ${others} } }\n`;
  const other = CONFIG.replace(
    "models:\n",
    `models:
  - { id: other-draw, name: O, type: image, capabilities: [text_to_image], upstreams: [{ provider: canary-provider, model: image }] }
`,
  ).replace(
    /( +)- \{ model: draw,/,
    `$1- { model: other-draw, billing_type: per_call, price: "1", unit: image }\n$1- { model: draw,`,
  );
  await using gateway = await openMediaGateway({ config: plans + other, cash: "100" });
  const planned = await gateway.admin("PUT", `/accounts/${gateway.account}/plan`, { plan: "pro" });
  assert.equal(planned.status, 200, await planned.text());
  const done = await gateway.ended((await gateway.submit(PATH, request())).id, 90);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  const { quotas } = await (await gateway.get("/v1/balance")).json();
  assert.deepEqual([quotas.image, quotas.video], [100, 97]);
  assert.equal(done.charge.from.quota, 3);
  await gateway.verify();
});

Deno.test("the same business id makes one drama, and another body is refused", async () => {
  await using gateway = await open();
  const body = request({ stage: "script" });
  const answers = await Promise.all(Array.from({ length: 10 }, () => gateway.post(PATH, body)));
  const ids = await Promise.all(answers.map(async (res) => (await res.json()).id));
  assert.equal(new Set(ids).size, 1);
  assert.equal(
    answers.filter((res) => res.headers.get("idempotent-replayed") === "true").length,
    9,
  );
  const other = { ...body, title: "Other" };
  assert.deepEqual(await refused(gateway, other), {
    status: 400,
    code: "idempotency_key_reused",
    param: "business_id",
  });
  const { error } = await (await gateway.post(PATH, other)).json();
  assert.match(error.message, /^This business_id was used/);
  await gateway.ended(ids[0]);
});

Deno.test("POST /v1/dramas/generations refuses what cannot become a drama, and stores nothing", async () => {
  await using gateway = await open();
  const audio = await gateway.upload("a.wav", wav());
  const cases: [body: Record<string, unknown>, status: number, code: string, param: string][] = [
    [{ business_id: undefined }, 400, "business_id_required", "business_id"],
    [{ business_id: "with space" }, 400, "invalid_value", "business_id"],
    [{ callback_url: undefined }, 400, "webhook_required", "callback_url"],
    [{ callback_url: undefined, stage: "video" }, 400, "webhook_required", "callback_url"],
    [{ callback_url: "ftp://x" }, 400, "unsafe_url", "callback_url"],
    [{ script: "" }, 400, "invalid_value", "script"],
    [{ script: "   " }, 400, "invalid_value", "script"],
    [{ script: undefined }, 400, "missing_field", "script"],
    [{ title: undefined }, 400, "missing_field", "title"],
    [{ script: "ü".repeat(50_001) }, 400, "prompt_too_long", "script"],
    [{ characters: [] }, 400, "invalid_value", "characters"],
    [
      { characters: Array.from({ length: 21 }, (_, n) => ({ name: `n${n}` })) },
      400,
      "invalid_value",
      "characters",
    ],
    [{ characters: [{ name: "A" }, { name: " a" }] }, 400, "invalid_value", "characters.1.name"],
    [
      { characters: [{ name: "A", reference_file_id: "file_none" }] },
      400,
      "file_not_found",
      "characters.0.reference_file_id",
    ],
    [
      { characters: [{ name: "A", reference_file_id: audio }] },
      400,
      "invalid_value",
      "characters.0.reference_file_id",
    ],
    [{ aspect_ratio: "1:1" }, 400, "aspect_ratio_not_allowed", "aspect_ratio"],
    [{ stage: "music" }, 400, "invalid_value", "stage"],
    [{ model: "babbled", stage: "roles" }, 400, "capability_not_supported", "stage"],
    [{ model: "video-model" }, 400, "capability_not_supported", "model"],
    [{ model: "nothing" }, 404, "model_unavailable", "model"],
    [{ from_task: "task_none" }, 400, "task_not_found", "from_task"],
    [{ mood: "sad" }, 400, "unknown_field", "mood"],
  ];
  for (const [more, status, code, param] of cases) {
    assert.deepEqual(await refused(gateway, request(more)), { status, code, param }, code);
    if (code === "business_id_required") continue;
    const quote = await gateway.post("/v1/quotes", { path: PATH, body: request(more) });
    const { error } = await quote.json();
    assert.deepEqual([quote.status, error?.code, error?.param], [status, code, param], "quoted");
  }
  const long = await gateway.submit(
    PATH,
    request({ script: "ü".repeat(50_000), stage: "script", callback_url: undefined }),
  );
  assert.equal((await gateway.ended(long.id, 60)).status, "succeeded");
});

Deno.test("another account's reference and task are as good as not there", async () => {
  await using gateway = await open();
  const other = await gateway.admin("POST", "/accounts", { name: "other" });
  const { id } = await other.json();
  const { key } = await (await gateway.admin("POST", `/accounts/${id}/keys`, { name: "k" })).json();
  const reference = await gateway.upload("a.png", png());
  const mine = await gateway.submit(PATH, request({ stage: "script" }));
  await gateway.ended(mine.id);
  const theirs = { authorization: `Bearer ${key}` };
  for (
    const [more, code] of [
      [{ characters: [{ name: "A", reference_file_id: reference }] }, "file_not_found"],
      [{ from_task: mine.id }, "task_not_found"],
    ] as const
  ) {
    const res = await gateway.post(PATH, request({ stage: "script", ...more }), theirs);
    assert.equal(res.status, 400);
    assert.equal((await res.json()).error.code, code);
  }
});

Deno.test("POST /v1/dramas/generations answers 402 and stores nothing when the worst case is not covered", async () => {
  await using gateway = await open("0.50");
  const quote = await (await gateway.post("/v1/quotes", { path: PATH, body: request() })).json();
  assert.equal(quote.covered, false);
  assert.ok(Number(quote.amount) > 0.5);
  assert.equal(await statusOf(gateway.post(PATH, request())), 402);
  assert.equal(await gateway.count("task"), 0);
  const script = await gateway.submit(PATH, request({ stage: "script" }));
  await gateway.ended(script.id);
});

Deno.test("a quote counts the shots and the episode of the stages that are asked for", async () => {
  await using gateway = await open();
  const usageUntil = async (stage: string) => {
    const body = request({ stage });
    const res = await gateway.post("/v1/quotes", { path: PATH, body });
    return (await res.json()).usage;
  };
  const none = { shots: 0, episodes: 0, calls: 1, seconds: 0 };
  assert.deepEqual(await usageUntil("script"), none);
  const { shots } = await usageUntil("storyboard");
  assert.ok(shots > 0);
  assert.deepEqual(await usageUntil("storyboard"), { ...none, shots });
  const whole = await usageUntil("video");
  assert.deepEqual([whole.shots, whole.episodes], [shots, 1]);
  assert.ok(whole.seconds >= shots);
});

Deno.test("a cancelled drama keeps what is there and pays for it", async () => {
  await using gateway = await openMediaGateway({
    config: CONFIG.replace('x-simulate: "seconds=0"', 'x-simulate: "seconds=2"'),
  });
  const task = await gateway.submit(PATH, request());
  let seen = task;
  for (let n = 0; n < 600 && seen.stage !== "storyboard"; n++) {
    await new Promise((resume) => setTimeout(resume, 50));
    seen = await gateway.task(task.id);
  }
  assert.equal(seen.stage, "storyboard");
  assert.equal(await statusOf(gateway.post(`/v1/tasks/${task.id}/cancel`, {})), 202);
  const done = await gateway.ended(task.id, 60);
  assert.equal(done.status, "cancelled");
  assert.equal(done.stages[0].status, "succeeded");
  assertAddsUp(done);
  const listed = done.charge.usage.items.map(({ stage }: Json) => stage);
  assert.ok(listed.includes("script") && listed.includes("roles"));
  assert.equal((await gateway.balance()).frozen, "0.00");
  await gateway.verify();
});

Deno.test("a drama that expires leaves no stage that still runs", async () => {
  await using gateway = await open();
  const { sql } = gateway.gateway.database;
  const task = await gateway.submit(PATH, request());
  while ((await gateway.task(task.id)).stage === null) {
    await new Promise((resume) => setTimeout(resume, 20));
  }
  await sql`update task set deadline_at = now() - interval '1 second', wake_at = now()
             where id = ${task.id} and completed_at is null`;
  const done = await gateway.ended(task.id, 60);
  assert.equal(done.status, "expired", JSON.stringify(done));
  const statuses: string[] = done.stages.map(({ status }: Json) => status);
  assert.ok(statuses.includes("failed") && !statuses.includes("running"), statuses.join());
  assert.equal(done.charge.settled, "0.00");
  await gateway.verify();
});

import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { type ConsoleGateway, openConsole } from "../helpers/console_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** Sends a form and returns where it leads. */
async function submit(
  person: ConsoleGateway["person"],
  path: string,
  fields: Record<string, string>,
): Promise<string> {
  const res = await person.post(path, fields);
  const text = await res.text();
  assert.equal(res.status, 303, text);
  return res.headers.get("location")!;
}

Deno.test("a finished drama shows its episode and its stages", STRICT, async () => {
  await using receiver = startReceiver();
  await using gateway = await openConsole({
    added: "outbound:\n  allow_private: true\n",
  });
  const { person } = gateway;
  await submit(person, "/console/webhooks", { url: receiver.url });
  const path = await submit(person, "/console/models/sim-drama-short/run", {
    title: "The lighthouse",
    script: "A keeper finds a letter.",
    stage: "video",
    aspect_ratio: "9:16",
  });
  await until("it is finished", async () => (await person.read(path)).includes("Completed"), 90);
  const page = await person.read(path);
  assert.ok(page.includes("Final result") && page.includes("<video"), "the episode");
  for (const stage of ["script", "roles", "storyboard", "video"]) {
    assert.ok(page.includes(`<span class="stage-name">${stage}</span>`), stage);
  }
  assert.ok(page.includes("A keeper finds a letter."), "the request");
  assert.ok(page.includes("plus models used") && page.includes("Cost breakdown"), "the receipt");
  assert.ok(receiver.received.length > 0);
});

Deno.test("a drama's price names its own fee and the models that it uses", STRICT, async () => {
  await using gateway = await openConsole();
  const list = await gateway.person.read("/console/models?type=drama");
  // 0.02 for the drama, 0.04 for the image, 5 × 0.05 for the video, and the spoken line.
  assert.match(list, /Up to \$0\.3\d* per shot with the models used/);
  const page = await gateway.person.read("/console/models/sim-drama");
  assert.match(page, /<dt>Drama fee<\/dt><dd[^>]*>\$0\.02 per shot</);
  assert.match(page, /<dt>Video<\/dt><dd[^>]*>\$0\.05 per second \(sim-video, 5 s per shot\)</);
});

Deno.test("a failed task says that it was free only when its receipt does", STRICT, async () => {
  await using gateway = await openConsole({ environment: { SIMULATE: "fail_at=0" } });
  const { person } = gateway;
  const fields = { prompt: "Waves", duration: "5", aspect_ratio: "16:9" };
  const path = await submit(person, "/console/models/sim-video/run", fields);
  await until("it has failed", async () => (await person.read(path)).includes(">Failed<"), 60);
  assert.ok((await person.read(path)).includes("You were not charged."));
  const { sql } = gateway.gateway.database;
  // A task whose job was paid for although it failed, as an operator may settle it.
  await sql`
    insert into receipt_correction
    select id, account_id, request_id, client_request_id, model, kind, 'settled', scale, amount, units, allocations, held,
           held, shortfall, beyond_hold, price, usage, checkpoint, upstream, cost, created_at, resolved_at, 'late', batch
      from receipt`;
  assert.ok(!(await person.read(path)).includes("You were not charged."));
});

Deno.test("a failed drama's page says what its receipt says", STRICT, async () => {
  await using receiver = startReceiver();
  const dramas = new URL("../helpers/drama_config.yaml", import.meta.url);
  const config = `${await Deno.readTextFile(dramas)}\nsite: { registration: true }\n`;
  await using gateway = await openConsole({ config });
  const { person } = gateway;
  await submit(person, "/console/webhooks", { url: receiver.url });
  const path = await submit(person, "/console/models/failing-drama/run", {
    title: "The lighthouse",
    script: "A keeper finds a letter.",
    stage: "video",
  });
  // A stage fails before its drama does.
  const isOver = async () => (await person.read(path)).includes("<dt>Completed</dt>");
  await until("it has failed", isOver, 90);
  const page = await person.read(path);
  const text = page.replace(/<[^>]*>/g, "");
  const charged = /<dt>Charged<\/dt><dd[^>]*>(.*?)<\/dd>/.exec(page)?.[1]?.replace(/<[^>]*>/g, "");
  assert.match(charged ?? "", /^€0\.\d*[1-9]\d*$/, page);
  assert.ok(text.includes(`You were charged ${charged} for results so far.`), text);
  assert.ok(!/not charged|nothing was charged/i.test(text), text);
});

Deno.test("speech without scripts is downloaded", STRICT, async () => {
  await using gateway = await openConsole();
  const res = await gateway.person.post("/console/models/sim-speech/run", {
    input: "Good morning",
    voice: "alma",
    response_format: "mp3",
    speed: "1",
  });
  assert.equal(res.status, 200);
  assert.equal(res.headers.get("content-disposition"), 'attachment; filename="speech.mp3"');
  assert.ok((await res.bytes()).length > 1000);
});

Deno.test("an embedding is quoted, made for scripts, and downloaded without", STRICT, async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  const page = await person.read("/console/models/sim-embedding");
  assert.ok(page.includes('data-playground="vectors"') && page.includes('name="dimensions"'), page);
  assert.ok(page.includes("$0.02 per 1M tokens"), "its price has no output");
  assert.ok(page.includes("Max dimensions"), "its limits");
  const path = "/console/models/sim-embedding";
  const form = { input: "The gate is open.", dimensions: "4" };
  const quoted = await (await person.post(`${path}/quote`, form)).json();
  assert.match(quoted.text, /^Estimated maximum/);
  const json = { accept: "application/json" };
  const made = await (await person.post(`${path}/run`, form, json)).json();
  assert.equal(made.data[0].embedding.length, 4);
  const res = await person.post(`${path}/run`, form);
  assert.equal(res.headers.get("content-disposition"), 'attachment; filename="embedding.json"');
  assert.deepEqual(await res.json(), made);
});

Deno.test("the webhook form derives its times from the configuration", STRICT, async () => {
  await using gateway = await openConsole({
    added: "webhooks:\n  retry_seconds: [0, 60, 7140]\n  timeout_seconds: 20\n",
  });
  const page = await gateway.person.read("/console/webhooks");
  assert.ok(page.includes("Respond with 2xx within 20 seconds"), page);
  assert.ok(page.includes("failed deliveries are retried for 2 hours"));
});

Deno.test("a page of the console that does not exist keeps the navigation", STRICT, async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  for (const path of ["/console/nowhere", "/console/tasks/task_unknown"]) {
    const res = await person.get(path);
    const page = await res.text();
    assert.equal(res.status, 404, path);
    assert.ok(page.includes("Page not found") && page.includes("Back to console"), path);
    assert.ok(page.includes('<nav class="side"'), path);
  }
  const outside = await (await person.get("/nowhere")).text();
  assert.ok(!outside.includes('<nav class="side"'));
});

Deno.test("the sign-in page says what it is for", STRICT, async () => {
  await using gateway = await openConsole();
  const connect = new URLSearchParams({
    client: "my-terminal",
    response_type: "api_key",
    redirect_uri: "http://127.0.0.1:4711/callback",
    state: "x",
  });
  for (
    const [target, reason] of [
      ["/console/billing", "Sign in to open billing."],
      [`/connect/browser-auth?${connect}`, "Sign in to give my-terminal an API key."],
      ["/connect/browser-auth?client=<b>", ""],
      ["/console", ""],
    ] as const
  ) {
    const query = new URLSearchParams({ return_to: target });
    const page = await (await gateway.fetch(`/sign-in?${query}`)).text();
    assert.equal(/<p class="soft">(Sign in to [^<]*)</.exec(page)?.[1] ?? "", reason, target);
  }
});

Deno.test("form errors use the labels of the form", STRICT, async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  await person.makeOperator();
  const path = `/console/operator/accounts/${person.account}/credits`;
  const credit = { kind: "cash", amount: "10", reference: "r1", expires_at: "" };
  for (
    const [fields, id, message] of [
      [{ amount: "ten" }, "amount", "Amount must be a number above zero"],
      [{ reference: "" }, "reference", "Reference is required."],
      [{ kind: "gift", expires_at: "2020-01-01" }, "expires_at", "Expires on must lie"],
      [
        { kind: "gift", expires_at: "soon" },
        "expires_at",
        "Expires on must be a date such as 2027-01-31.",
      ],
    ] as const
  ) {
    const res = await person.post(path, { ...credit, ...fields });
    const page = await res.text();
    assert.equal(res.status, 400, message);
    assert.ok(page.includes(`id="field-${id}-error">${message}`), message);
  }
});

Deno.test("times are exact and amounts never break", STRICT, async () => {
  await using gateway = await openConsole({ cash: "1234.567891" });
  const { person } = gateway;
  const page = await person.read("/console/billing");
  assert.match(page, /<span class="money[^"]*">\+\$1,234\.567891<\/span>/);
  assert.match(
    page,
    /<time datetime="[^"]+Z" data-time="relative" title="\w+ \d+, \d+, \d\d:\d\d:\d\d UTC">/,
  );
});

Deno.test("a quota of one image is one image", STRICT, async () => {
  await using gateway = await openConsole({ cash: "5" });
  const { person } = gateway;
  const plan = await gateway.admin("PUT", `/accounts/${person.account}/plan`, { plan: "pro" });
  await plan.body?.cancel();
  const fields = { prompt: "A tide", size: "512x512", n: "1" };
  const path = await submit(person, "/console/models/sim-image/run", fields);
  await until("the image is there", async () => (await person.read(path)).includes("<img"), 60);
  const page = await person.read("/console/billing");
  assert.match(page, /-1 image</);
  assert.match(await person.read("/console"), /1 image from quota/);
});

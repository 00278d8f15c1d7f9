import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { type ConsoleGateway, openConsole, shippedWith } from "../helpers/console_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** Sends a form and leaves nothing open; the status, and where it leads. */
async function send(
  person: ConsoleGateway["person"],
  path: string,
  fields: Record<string, string> = {},
): Promise<{ status: number; location: string; text: string }> {
  const res = await person.post(path, fields);
  return {
    status: res.status,
    location: res.headers.get("location") ?? "",
    text: await res.text(),
  };
}

Deno.test(
  "a task is shown with its results to its owner, and to no other account",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    const { person } = gateway;
    const made = await send(person, "/console/models/sim-image/run", {
      prompt: "A tide <script>",
      size: "512x512",
      n: "2",
    });
    assert.equal(made.status, 303, made.text);
    await until(
      "both images are there",
      async () => (await person.read(made.location)).split("<img").length === 3,
      60,
    );
    const page = await person.read(made.location);
    const address = /<img src="([^"]+)"/.exec(page)![1]!.replaceAll("&amp;", "&");
    assert.ok(address.startsWith("/"), "from this site, whatever the API's address is");
    const image = await gateway.fetch(address);
    await image.body?.cancel();
    assert.equal(image.headers.get("content-type"), "image/png");
    assert.ok(page.includes("$0.08"));
    assert.ok(page.includes("A tide &lt;script&gt;"), "the prompt");
    assert.match(page, /<dt>Size<\/dt><dd>512x512<\/dd>/);
    assert.match(page, /<dt>Number of images<\/dt><dd>2<\/dd>/);
    const list = await person.read("/console/tasks?type=image&status=succeeded");
    assert.ok(list.includes(made.location));
    assert.ok(!(await person.read("/console/tasks?status=failed")).includes(made.location));

    const other = await gateway.register("other@example.org");
    for (const path of [made.location, `${made.location}/results`]) {
      const res = await other.get(path);
      await res.body?.cancel();
      assert.equal(res.status, 404);
    }
    assert.equal((await send(other, `${made.location}/cancel`)).status, 404);
    await gateway.verify();
  },
);

Deno.test("a refused generation says why, and stores nothing", STRICT, async () => {
  await using gateway = await openConsole({ cash: "0.01" });
  const short = await send(gateway.person, "/console/models/sim-video/run", {
    prompt: "Waves",
    duration: "5",
    aspect_ratio: "16:9",
  });
  assert.equal(short.status, 402);
  assert.ok(short.text.includes("The balance does not cover this request"));
  const wrong = await send(gateway.person, "/console/models/sim-video/run", {
    prompt: "Waves",
    duration: "7",
  });
  assert.equal(wrong.status, 400);
  assert.ok(wrong.text.includes("Waves"), "what was typed is still there");
  assert.ok(wrong.text.includes("Duration must be one of"), "the label, not the API's field name");
  const { sql } = gateway.gateway.database;
  assert.equal((await sql`select from task`).length, 0);
});

Deno.test(
  "a webhook endpoint is made, tested, changed, switched off and on, and deleted",
  STRICT,
  async () => {
    await using receiver = startReceiver();
    await using gateway = await openConsole({
      config: await shippedWith("outbound:\n  allow_private: true\n"),
    });
    const { person } = gateway;
    const made = await send(person, "/console/webhooks", {
      url: `${receiver.url}/a`,
      description: "orders",
      "task.failed": "on",
    });
    assert.equal(made.status, 303, made.text);
    const path = /\/console\/webhooks\/we_[0-9a-z]+/.exec(made.location)![0];
    const secret = /whsec_[0-9A-Za-z+/=]+/.exec(await person.read(made.location))![0];
    assert.ok(!(await person.read(path)).includes(secret), "not on the endpoint's own page");
    assert.ok((await person.read(`${path}/secret`)).includes(secret));

    const test = await send(person, `${path}/test`);
    await until("it was received", () => receiver.received.length === 1);
    await until(
      "it is recorded",
      async () => (await person.read(test.location)).includes(">Delivered<"),
    );

    await send(person, `${path}/secret/rotate`, { old: "keep" });
    const rotated = await person.read(`${path}/secret`);
    assert.equal(new Set(rotated.match(/whsec_[0-9A-Za-z+/=]+/g)).size, 2);
    assert.ok(rotated.includes(secret), "the old secret is still valid");
    await send(person, `${path}/secret/rotate`, { old: "revoke" });

    const saved = await send(person, path, { url: `${receiver.url}/b`, description: "invoices" });
    assert.equal(saved.status, 303);
    assert.ok((await person.read(path)).includes("/b"));
    await send(person, `${path}/disable`);
    assert.ok((await person.read(path)).includes("This endpoint is disabled."));
    await send(person, `${path}/enable`);
    assert.ok(!(await person.read(path)).includes("This endpoint is disabled."));

    const other = await gateway.register("other@example.org");
    for (const act of ["test", "disable", "delete", "secret/rotate"]) {
      assert.equal((await send(other, `${path}/${act}`)).status, 404, act);
    }
    assert.equal((await send(person, `${path}/nonsense`)).status, 404);
    assert.equal((await send(person, `${path}/delete`)).location, "/console/webhooks");
    const gone = await person.get(path);
    await gone.body?.cancel();
    assert.equal(gone.status, 404);
  },
);

Deno.test("a URL that is not public is an error of its field", STRICT, async () => {
  await using gateway = await openConsole();
  const res = await send(gateway.person, "/console/webhooks", { url: "https://127.0.0.1/x" });
  assert.equal(res.status, 400);
  assert.ok(res.text.includes('aria-invalid="true"'));
  assert.match(res.text, /class="field-error"[^>]*>Endpoint URL must/);
});

Deno.test("an operator sees what is stuck, and replays it", STRICT, async () => {
  await using gateway = await openConsole();
  const { person } = gateway;
  const made = await send(person, "/console/models/sim-video/run", {
    prompt: "Waves",
    duration: "5",
    aspect_ratio: "16:9",
  });
  const id = made.location.split("/").at(-1)!;
  const { sql } = gateway.gateway.database;
  const replay = () => send(person, `/console/operator/queue/tasks/${id}/replay`);
  assert.equal((await replay()).status, 404, "not yet an operator");
  await person.makeOperator();
  await until(
    "it is over",
    async () => (await sql`select from task where completed_at is not null`).length === 1,
    60,
  );
  const all = await person.read("/console/operator/queue?view=all");
  assert.ok(all.includes(id) && all.includes("simulator/video"));
  assert.equal((await replay()).status, 400, "what is over is final");
});

Deno.test(
  "what the console passes on from the API has one request id, the log's",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    for (const path of ["balance", "tasks/task_none"]) {
      const res = await gateway.person.get(`/console/api/${path}`);
      const id = res.headers.get("x-request-id") ?? "";
      assert.match(id, /^req_\w+$/, path);
      const body = await res.json();
      if (res.status === 404) assert.equal(body.request_id, id);
      const lines = gateway.logged().split("\n").filter((line) => line.includes(id));
      assert.ok(lines.some((line) => line.includes(`"/v1/${path}"`)), lines.join("\n"));
      assert.ok(lines.some((line) => line.includes(`"/console/api/${path}"`)), lines.join("\n"));
    }
  },
);

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import OpenAI from "openai";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const IMAGES = "/v1/images/generations";
const PNG = "\x89PNG";

Deno.test("the openai package gets images as URLs and in base64, and is charged for them once", async () => {
  await using gateway = await openMediaGateway({ cash: "1.00" });
  const client = new OpenAI({
    apiKey: gateway.key,
    baseURL: `${gateway.address}/v1`,
    maxRetries: 0,
  });
  const asked = { model: "image-model", prompt: "a tide", n: 2 };
  const linked = await client.images.generate({ ...asked, response_format: "url", size: "auto" });
  assert.equal(linked.data!.length, 2);
  assert.ok(Number.isInteger(linked.created));
  const image = await fetch(linked.data![0]!.url!);
  assert.equal(image.headers.get("content-type"), "image/png");
  await image.body?.cancel();

  const { data: inline, response } = await client.images.generate({
    ...asked,
    ...{ response_format: "b64_json", quality: "auto", style: "vivid", background: "auto" },
    ...{ output_format: "png", user: "user-7" },
  }).withResponse();
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("x-ignored-fields"), "style, background, output_format");
  assert.deepEqual(
    inline.data!.map(({ b64_json }) =>
      Buffer.from(b64_json!, "base64").toString("latin1").slice(0, 4)
    ),
    [PNG, PNG],
  );
  const task = inline as unknown as { id: string; status: string; charge: { user: string } };
  assert.match(task.id, /^task_/);
  assert.deepEqual([task.status, task.charge.user], ["succeeded", "user-7"]);
  assert.equal(await gateway.count("task"), 2);
  assert.deepEqual(await gateway.balance(), { available: "0.84", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("without response_format it is a task (202); Prefer: wait has the images beside it", async () => {
  await using gateway = await openMediaGateway();
  const body = { model: "image-model", prompt: "a tide" };
  const task = await gateway.submit(IMAGES, { ...body, user: "u" });
  assert.equal(task.data, undefined);
  const waited = await gateway.post(IMAGES, body, { prefer: "wait" });
  assert.equal(waited.status, 200);
  assert.equal(waited.headers.get("preference-applied"), "wait=60");
  const { data, output } = await waited.json();
  assert.deepEqual(data, [{ url: output[0].url }]);
  const unknown = await gateway.post(IMAGES, { ...body, zebra: 1 });
  assert.equal((await errorOf(unknown)).code, "unknown_field");
});

Deno.test("images that cannot be made are an error, cost nothing, and may be asked for again with the same key", async () => {
  await using gateway = await openMediaGateway({ cash: "1.00" });
  const key = { "idempotency-key": "order-1" };
  const failing = {
    model: "image-model",
    prompt: "[[simulate: outcome=rejected]] x",
    response_format: "url",
  };
  const failed = await gateway.post(IMAGES, failing, key);
  const { code } = await errorOf(failed);
  const again = await gateway.post(IMAGES, failing, key);
  assert.equal(again.headers.get("idempotent-replayed"), null);
  assert.equal((await errorOf(again)).code, code);
  assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });

  const made = { model: "image-model", prompt: "a tide", response_format: "b64_json" };
  const first = await gateway.post(IMAGES, made, { "idempotency-key": "order-2" });
  const images = (await first.json()).data;
  const replay = await gateway.post(IMAGES, made, { "idempotency-key": "order-2" });
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  assert.deepEqual((await replay.json()).data, images);
  assert.deepEqual(await gateway.balance(), { available: "0.96", frozen: "0.00" });
});

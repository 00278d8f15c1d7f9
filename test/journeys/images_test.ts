import assert from "node:assert/strict";
import { openMediaGateway } from "../helpers/media_gateway.ts";

Deno.test("POST /v1/images/generations answers 202 with a task that ends with a picture at our own address, paid for", async () => {
  await using gateway = await openMediaGateway({ cash: "1.00" });
  const res = await gateway.post("/v1/images/generations", {
    model: "picture",
    prompt: "a tide",
    n: 2,
    size: "128x64",
  }, { "x-client-request-id": "mine-1" });
  assert.equal(res.status, 202);
  const task = await res.json();
  assert.match(task.id, /^task_[0-9a-z]{26}$/);
  assert.equal(res.headers.get("location"), `/v1/tasks/${task.id}`);
  assert.equal(task.object, "generation.task");
  assert.equal(task.status, "queued");
  assert.equal(task.request_id, res.headers.get("x-request-id"));
  assert.equal(task.client_request_id, "mine-1");
  assert.deepEqual(task.output, []);
  assert.equal(task.charge.held, "0.08");
  assert.equal(task.charge.status, "open");

  const done = await gateway.ended(task.id);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.equal(done.progress, 100);
  assert.equal(done.error, null);
  assert.deepEqual(done.usage, { total_units: 2 });
  assert.equal(done.charge.settled, "0.08");
  assert.equal(done.output.length, 2);
  for (const output of done.output) {
    assert.equal(output.type, "image");
    assert.equal(output.mime_type, "image/png");
    assert.deepEqual([output.width, output.height], [128, 64]);
    assert.ok(output.url.startsWith(`${gateway.address}/content/`), output.url);
    const content = await fetch(output.url);
    assert.equal(content.status, 200);
    assert.equal((await content.bytes()).length, output.bytes);
  }
  assert.deepEqual(await gateway.balance(), { available: "0.92", frozen: "0.00" });
  await gateway.verify();
});

import assert from "node:assert/strict";
import { eventsOf, type Json, until } from "../helpers/chat_gateway.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { statusOf } from "../helpers/status_of.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

const submitVideo = (gateway: MediaGateway, orders: string, more: Record<string, unknown> = {}) =>
  gateway.submit("/v1/videos/generations", {
    model: "video-model",
    prompt: `[[simulate: ${orders}]] a tide`,
    duration: 2,
    ...more,
  });

Deno.test(
  "GET /v1/tasks lists the account's own, by type and status, page by page",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const task = await gateway.submit("/v1/images/generations", {
        model: "image-model",
        prompt: "x",
      });
      ids.push((await gateway.ended(task.id)).id);
    }
    const failed = await submitVideo(gateway, "fail_at=0");
    await gateway.ended(failed.id);
    const list = async (query: string) => await (await gateway.get(`/v1/tasks${query}`)).json();
    assert.deepEqual((await list("")).data.map(({ id }: Json) => id), [
      failed.id,
      ...ids.toReversed(),
    ]);
    const page = await list("?limit=2&order=asc");
    assert.deepEqual([page.first_id, page.last_id, page.has_more], [ids[0], ids[1], true]);
    const next = await list(`?limit=2&order=asc&after=${ids[1]}`);
    assert.deepEqual([next.first_id, next.has_more], [ids[2], false]);
    assert.deepEqual((await list("?type=video")).data.length, 1);
    assert.deepEqual((await list("?status=failed")).data[0].error.code, "upstream_failed");
    assert.deepEqual((await list("?type=image&status=failed")).data, []);
    for (const query of ["?type=song", "?status=done", "?limit=0", "?order=up"]) {
      const res = await gateway.get(`/v1/tasks${query}`);
      assert.equal(res.status, 400, query);
      await res.body?.cancel();
    }
    const other = await gateway.newKey();
    const theirs = { authorization: `Bearer ${other.key}` };
    assert.deepEqual((await (await gateway.get("/v1/tasks", theirs)).json()).data, []);
    for (
      const path of [`/v1/tasks/${ids[0]}`, "/v1/tasks/task_none", `/v1/tasks/${ids[0]}/events`]
    ) {
      const res = await gateway.get(path, theirs);
      assert.equal(res.status, 404, path);
      assert.equal((await errorOf(res)).code, "task_not_found");
    }
    const cancel = await gateway.post(`/v1/tasks/${ids[0]}/cancel`, {}, theirs);
    assert.equal(cancel.status, 404);
    await cancel.body?.cancel();
  },
);

Deno.test("each GET of a task signs the addresses of its results anew", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const task = await gateway.submit("/v1/images/generations", {
    model: "image-model",
    prompt: "x",
  });
  const { output: [first] } = await gateway.ended(task.id);
  await new Promise((resume) => setTimeout(resume, 1100));
  const { output: [second] } = await gateway.task(task.id);
  assert.notEqual(first.url, second.url);
  assert.ok(Date.parse(second.expires_at) > Date.parse(first.expires_at));
  const hours = (Date.parse(second.expires_at) - Date.now()) / 3_600_000;
  assert.ok(hours > 23.9 && hours <= 24, String(hours));
});

Deno.test(
  "GET /v1/tasks/{id}/events tells every change until the end, and progress never goes back",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const task = await submitVideo(gateway, "seconds=2");
    const res = await gateway.get(`/v1/tasks/${task.id}/events`);
    assert.equal(res.headers.get("content-type"), "text/event-stream; charset=utf-8");
    const events = await eventsOf(res);
    assert.equal(events.at(-1).status, "succeeded");
    assert.ok(events.length >= 3, `${events.length} events`);
    const steps = events.map(({ progress }) => progress);
    assert.deepEqual(steps, steps.toSorted((a, b) => a - b));
    const backwards = await submitVideo(gateway, "seconds=1 backwards");
    const seen = (await eventsOf(await gateway.get(`/v1/tasks/${backwards.id}/events`)))
      .map(({ progress }) => progress);
    assert.deepEqual(seen, seen.toSorted((a, b) => a - b));
  },
);

Deno.test(
  "Prefer: wait=N holds the answer until the task is over, or N seconds pass",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const quick = await gateway.post(
      "/v1/images/generations",
      { model: "image-model", prompt: "x" },
      { prefer: "wait=30" },
    );
    assert.equal(quick.status, 200);
    assert.equal(quick.headers.get("preference-applied"), "wait=30");
    const { status, output, data } = await quick.json();
    assert.equal(status, "succeeded");
    assert.deepEqual(data, [{ url: output[0].url }]);
    const slow = await gateway.post(
      "/v1/images/generations",
      { model: "image-model", prompt: "[[simulate: seconds=60]] x" },
      { prefer: "wait=1" },
    );
    assert.equal(slow.status, 202);
    assert.ok(["queued", "running"].includes((await slow.json()).status));
  },
);

Deno.test(
  "a task that no upstream has is cancelled at once (200); one that is over stays as it is",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const task = await submitVideo(gateway, "status=429 retry_after=1");
    await until("the first refusal", async () => {
      const [row] = await gateway.gateway.database.sql`
      select from task where id = ${task.id} and phase = 'submit' and last_failure is not null`;
      return row !== undefined;
    });
    const res = await gateway.post(`/v1/tasks/${task.id}/cancel`, {});
    const cancelled = await res.json();
    assert.equal(res.status, 200);
    assert.equal(cancelled.status, "cancelled");
    assert.equal(cancelled.error, null);
    assert.equal(cancelled.charge.released, "0.10");
    const again = await gateway.post(`/v1/tasks/${task.id}/cancel`, {});
    assert.equal(again.status, 200);
    assert.deepEqual(await again.json(), cancelled);
    assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "a running task is cancelled when its upstream says so (202): released, or what it billed",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const running = async (orders: string) => {
      const task = await submitVideo(gateway, orders);
      await until("it runs", async () => (await gateway.task(task.id)).status === "running");
      const res = await gateway.post(`/v1/tasks/${task.id}/cancel`, {});
      assert.equal(res.status, 202, orders);
      await res.body?.cancel();
      return await gateway.ended(task.id);
    };
    const plain = await running("seconds=60");
    assert.equal(plain.status, "cancelled");
    assert.equal(plain.charge.settled, "0.00");
    assert.equal(await statusOf(running("seconds=60 cancel=late")), "cancelled");
    const billed = await running("seconds=60 cancel=billed");
    assert.equal(billed.status, "cancelled");
    assert.equal(billed.charge.settled, "0.10");
    for (const answer of ["refused", "ignored"]) {
      const stubborn = await running(`seconds=1 cancel=${answer}`);
      assert.equal(stubborn.status, "succeeded", answer);
      assert.equal(stubborn.charge.settled, "0.10");
    }
    assert.deepEqual(await gateway.balance(), { available: "0.70", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "an upstream that fails, says odd things or cannot be looked at for a while",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    for (
      const [orders, status, code] of [
        ["seconds=1 fail_at=60", "failed", "upstream_failed"],
        ["status=400", "failed", "invalid_value"],
        ["seconds=1 state=resting", "succeeded", null],
        ["seconds=1 no_progress", "succeeded", null],
        ["poll_fails=2", "succeeded", null],
        ["fail=1 name=twice", "succeeded", null],
        ["output=inline", "succeeded", null],
      ] as const
    ) {
      const task = await submitVideo(gateway, orders);
      const done = await gateway.ended(task.id);
      assert.equal(done.status, status, orders);
      assert.equal(done.error?.code ?? null, code, orders);
      assert.equal(done.charge.settled, status === "succeeded" ? "0.10" : "0.00", orders);
    }
    assert.deepEqual(await gateway.balance(), { available: "0.50", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "a task whose upstream never ends expires at the model's deadline, and what comes later is ignored",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const task = await gateway.submit("/v1/videos/generations", {
      model: "short-video",
      prompt: "[[simulate: seconds=3]] a tide",
    });
    const done = await gateway.ended(task.id);
    assert.equal(done.status, "expired");
    assert.equal(done.error.code, "upstream_timeout");
    assert.equal(done.charge.released, "0.05");
    await new Promise((resume) => setTimeout(resume, 2500));
    assert.equal((await gateway.task(task.id)).status, "expired");
    assert.deepEqual(await gateway.balance(), { available: "1.00", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "a submission whose reply was lost is found by our reference, and made once",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const task = await submitVideo(gateway, "cut=0 seconds=1");
    const done = await gateway.ended(task.id);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    assert.equal(done.charge.settled, "0.10");
    await gateway.verify();
  },
);

Deno.test("the end of a task is told to its callback_url, with its results", STRICT, async () => {
  await using gateway = await openMediaGateway();
  await using receiver = startReceiver();
  const task = await submitVideo(gateway, "seconds=0", { callback_url: `${receiver.url}/hook` });
  const failed = await submitVideo(gateway, "fail_at=0", { callback_url: `${receiver.url}/hook` });
  await until("two events", () => receiver.received.length >= 2, 20);
  const events = new Map(receiver.received.map(({ event }) => [event.data.task_id, event]));
  const event = events.get(task.id)!;
  assert.equal(event.type, "task.succeeded");
  const [video] = event.data.output as Json[];
  assert.equal(video.type, "video");
  assert.ok(video.url.startsWith(gateway.address));
  assert.equal(events.get(failed.id)!.type, "task.failed");
});

Deno.test("no word of an upstream is in any answer about a task", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const answers: string[] = [];
  for (const orders of ["seconds=0", "status=400", "fail_at=0", "status=500", "output=missing"]) {
    const task = await submitVideo(gateway, orders);
    answers.push(JSON.stringify(task), JSON.stringify(await gateway.ended(task.id)));
  }
  answers.push(await (await gateway.get("/v1/tasks")).text());
  assert.doesNotMatch(answers.join(), /canary|simulator|job_|media\/outputs/);
});

Deno.test(
  "after an upstream's rest, a job that made it fail lets others try first",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const { sql } = gateway.gateway.database;
    const submitImage = (prompt: string) =>
      gateway.submit("/v1/images/generations", { model: "image-model", prompt });
    const failing = await submitImage("[[simulate: status=429, retry_after=30]] a tide");
    while ((await sql`select 1 from task where last_failure is not null`).length === 0) {
      await new Promise((resume) => setTimeout(resume, 20));
    }
    const fresh = await submitImage("a tide");
    for (const until = Date.now() + 20_000; Date.now() < until;) {
      const rows = await sql<{ id: string; wake_at: Date }[]>`
        select id, wake_at from task where wake_at > now() + interval '5 seconds' and lease_until is null`;
      const wakes = new Map(rows.map(({ id, wake_at }) => [id, wake_at.getTime()]));
      const [late, soon] = [wakes.get(failing.id), wakes.get(fresh.id)];
      if (late === undefined || soon === undefined) {
        await new Promise((resume) => setTimeout(resume, 50));
        continue;
      }
      assert.ok(late - soon > 1_500, `${late - soon} ms`);
      return;
    }
    assert.fail("not both tasks wait for the end of the pause");
  },
);

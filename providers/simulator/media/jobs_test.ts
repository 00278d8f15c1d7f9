import assert from "node:assert/strict";
import { MediaClient } from "../../../test/helpers/media_client.ts";
import { UpstreamFailure } from "../../../src/upstream/failure.ts";
import type { JobStatus, MediaJob } from "../../../src/upstream/media_adapter.ts";
import { serveSimulator } from "../serve.ts";
import { STRICT } from "../test_client.ts";

const small: Partial<MediaJob> = { type: "image", parameters: { size: "64x64", n: 3 } };

/** The status of a job at some seconds after its start. */
async function seenAt(directives: string, ...seconds: number[]): Promise<JobStatus[]> {
  const client = new MediaClient(`seconds=10 ${directives}`);
  const { id } = await client.submit({});
  const start = client.nowMs;
  const seen = [];
  for (const second of seconds) {
    client.nowMs = start + second * 1000;
    seen.push(await client.poll(id!));
  }
  return seen;
}

const failsWith = (options: Partial<UpstreamFailure>) => (error: unknown) => {
  assert.ok(error instanceof UpstreamFailure);
  for (const [name, value] of Object.entries(options)) {
    assert.equal(error[name as keyof UpstreamFailure], value, name);
  }
  return true;
};

async function outputsOf(directives: string, job = small) {
  const client = new MediaClient(`seconds=0 ${directives}`);
  const { status } = await client.submit(job);
  assert.ok(status?.state === "succeeded");
  return { client, seen: status };
}

Deno.test("a job is queued, runs, and succeeds when its time is over", STRICT, async () => {
  const [first, fifth, last, done] = await seenAt("", 0, 5, 9.99, 10);
  assert.deepEqual(first, { state: "queued", progress: 0 });
  assert.deepEqual(fifth, { state: "running", progress: 50 });
  assert.deepEqual(last, { state: "running", progress: 99 });
  assert.equal(done!.state, "succeeded");
});

Deno.test("by default an image takes a second and a video four", STRICT, async () => {
  for (const [type, seconds] of [["image", 1], ["video", 4], ["avatar", 4]] as const) {
    const client = new MediaClient();
    const { id } = await client.submit({ type });
    client.nowMs += seconds * 1000 - 1;
    assert.equal((await client.poll(id!)).state, "running", type);
    client.nowMs += 1;
    assert.equal((await client.poll(id!)).state, "succeeded", type);
  }
});

Deno.test("with seconds=0 the first response has the outputs", STRICT, async () => {
  const { seen } = await outputsOf("");
  assert.equal(seen.outputs.length, 3);
  assert.deepEqual(seen.usage, { outputs: 3, durationMs: undefined });
});

Deno.test("a job goes on after a restart of the simulator", STRICT, async () => {
  const job = { type: "video", parameters: { duration: 2, aspect_ratio: "1:1" } } as const;
  const client = new MediaClient("seconds=10 no_usage");
  const { id } = await client.submit(job);
  client.nowMs += 5000;
  client.restart();
  assert.deepEqual(await client.poll(id!), { state: "running", progress: 50 });
  client.nowMs += 5000;
  client.restart();
  const seen = await client.poll(id!);
  assert.ok(seen.state === "succeeded");
  assert.equal(seen.usage, null, "directives are in the id too");
  const after = await client.fetch(seen.outputs[0]!);
  assert.deepEqual(after, (await new MediaClient().make(job))[0]);
});

Deno.test(
  "a job submitted again is the same job, and can be found by its reference",
  STRICT,
  async () => {
    const client = new MediaClient();
    const { id } = await client.submit({ reference: "task_a" });
    client.nowMs += 2000;
    assert.equal((await client.submit({ reference: "task_a" })).id, id);
    assert.notEqual((await client.submit({ reference: "task_b" })).id, id);
    assert.equal(await client.find("task_a"), id);
    assert.equal(await client.find("task_c"), null);
    assert.deepEqual(Object.fromEntries(client.simulator.submissions), { task_a: 2, task_b: 1 });
  },
);

Deno.test("an unknown id is refused", STRICT, async () => {
  const client = new MediaClient();
  for (const id of ["job_", "job_AAAA", "x", "job_%"]) {
    await assert.rejects(client.poll(id), failsWith({ received: "declined" }));
  }
});

Deno.test("an error at submission accepts no job", STRICT, async () => {
  const kinds = {
    400: ["rejected", "declined"],
    401: ["unauthorized", "declined"],
    429: ["rate_limited", "declined"],
    // After these the job may have been accepted all the same.
    500: ["failed", "unknown"],
    503: ["overloaded", "unknown"],
  };
  for (const [status, [kind, received]] of Object.entries(kinds)) {
    const client = new MediaClient(`status=${status}`);
    await assert.rejects(client.submit({}), failsWith({ kind, received } as never));
    assert.equal(client.simulator.submissions.size, 0);
  }
  const refused = new MediaClient("refuse");
  await assert.rejects(refused.submit({}), failsWith({ received: "no" }));
  const wrong = new MediaClient();
  const odd: MediaJob["parameters"][] = [
    { duration: -1 },
    { aspect_ratio: "wide" },
    { aspect_ratio: "9:1" },
  ];
  for (const parameters of odd) {
    await assert.rejects(wrong.submit({ parameters }), failsWith({ kind: "rejected" }));
  }
  await assert.rejects(wrong.submit({ type: "image", parameters: { n: 11 } }));
});

Deno.test("a job whose response was lost can be found by its reference", STRICT, async () => {
  for (
    const directive of ["cut", "garbage", "truncate", "accept_and_close", "accept_and_answer=503"]
  ) {
    const client = new MediaClient(directive);
    await assert.rejects(
      client.submit({ reference: "task_a" }),
      failsWith({ received: "unknown" }),
    );
    const id = await client.find("task_a");
    assert.equal((await client.poll(id!)).state, "queued", directive);
    assert.equal(client.simulator.submissions.get("task_a"), 1);
  }
});

Deno.test("directives in a prompt work, unless directives=off", STRICT, async () => {
  const prompt = "A tide [[simulate: status=429]]";
  await assert.rejects(new MediaClient().submit({ prompt }), failsWith({ kind: "rate_limited" }));
  const { id } = await new MediaClient("directives=off").submit({ prompt });
  assert.ok(id);
  const limited = new MediaClient("status=500 fail=1 name=once");
  await assert.rejects(limited.submit({}));
  assert.ok((await limited.submit({})).id);
});

Deno.test("jobs fail, get stuck, have unknown states and falling progress", STRICT, async () => {
  const failed = await seenAt("fail_at=60", 5.9, 6);
  assert.deepEqual(failed[0], { state: "running", progress: 59 });
  assert.deepEqual(failed[1], { state: "failed", fault: { kind: "failed" } });
  const stuck = await seenAt("stuck=40", 2, 100_000);
  assert.deepEqual(stuck.map((seen) => "progress" in seen && seen.progress), [20, 40]);
  const [odd, end] = await seenAt("state=hibernating no_progress", 2, 10);
  assert.deepEqual(odd, { state: "running", progress: null });
  assert.equal(end!.state, "succeeded");
  const back = await seenAt("backwards", 1, 5, 8);
  assert.deepEqual(back.map((seen) => "progress" in seen && seen.progress), [89, 49, 19]);
});

Deno.test("polling fails, at first or always", STRICT, async () => {
  const flaky = new MediaClient("poll_fails=2");
  const { id } = await flaky.submit({});
  await assert.rejects(flaky.poll(id!), failsWith({ kind: "failed" }));
  await assert.rejects(flaky.poll(id!));
  assert.equal((await flaky.poll(id!)).state, "queued");
  const down = new MediaClient("poll_status=503");
  const other = await down.submit({});
  await assert.rejects(down.poll(other.id!), failsWith({ kind: "overloaded" }));
});

Deno.test(
  "a job has fewer outputs than requested, lists each twice, or overstates its usage",
  STRICT,
  async () => {
    assert.equal((await outputsOf("outputs=2")).seen.outputs.length, 2);
    assert.equal((await outputsOf("outputs=0")).seen.outputs.length, 0);
    const { seen } = await outputsOf("duplicate");
    assert.equal(seen.outputs.length, 6);
    assert.deepEqual(seen.outputs[0], seen.outputs[3]);
    const video = { parameters: { duration: 5 } };
    assert.equal((await outputsOf("overstate", video)).seen.usage!.durationMs, 10_000);
  },
);

Deno.test("each output fault shows", STRICT, async () => {
  const isPng = (bytes: Uint8Array) => bytes[0] === 0x89 && bytes[1] === 0x50;
  const fetched = async (fault: string) => {
    const { client, seen } = await outputsOf(`output=${fault}`);
    return await client.fetch(seen.outputs[0]!);
  };
  assert.ok(isPng(await fetched("inline")));
  assert.ok(!isPng(await fetched("garbage")));
  assert.equal((await fetched("empty")).length, 0);
  assert.match(new TextDecoder().decode(await fetched("wrong_type")), /<script>/);
  await assert.rejects(fetched("cut"));
  await assert.rejects(fetched("missing"), failsWith({ kind: "failed" }));
  await assert.rejects(fetched("redirect"), /302/);
  const { seen } = await outputsOf("output=private");
  assert.ok("url" in seen.outputs[0]! && seen.outputs[0].url.startsWith("http://169.254."));
});

Deno.test("outputs that never end or hang stop when the caller aborts", STRICT, async () => {
  for (const fault of ["too_large", "hang"]) {
    const { client, seen } = await outputsOf(`output=${fault}`);
    const { url } = seen.outputs[0] as { url: string };
    const leaving = new AbortController();
    const response = await client.simulator.transport(
      new Request(url, { signal: leaving.signal }),
    );
    const reader = response.body!.getReader();
    let length = 0;
    const wanted = fault === "hang" ? 1 : 5_000_000;
    while (length < wanted) length += (await reader.read()).value!.length;
    leaving.abort();
    await assert.rejects(reader.read(), { name: "AbortError" }, fault);
  }
});

Deno.test("a cancelled job has no outputs", STRICT, async () => {
  const client = new MediaClient("seconds=10");
  const { id } = await client.submit({});
  assert.deepEqual(await client.cancel(id!), { state: "cancelled", usage: null });
  client.nowMs += 20_000;
  assert.deepEqual(await client.poll(id!), { state: "cancelled", usage: null });
  const done = new MediaClient("seconds=0");
  const { id: doneId } = await done.submit({});
  assert.equal((await done.cancel(doneId!))!.state, "succeeded", "too late");
});

Deno.test("cancelling is refused, ignored, late or billed", STRICT, async () => {
  const cancelled = async (how: string) => {
    const client = new MediaClient(`seconds=10 cancel=${how}`);
    const { id } = await client.submit({});
    const answer = await client.cancel(id!);
    client.nowMs += 20_000;
    return [answer, await client.poll(id!)];
  };
  await assert.rejects(cancelled("refused"), failsWith({ received: "declined" }));
  const [agreed, after] = await cancelled("ignored");
  assert.deepEqual([agreed!.state, after!.state], ["queued", "succeeded"]);
  const [soon, then] = await cancelled("late");
  assert.deepEqual([soon!.state, then!.state], ["running", "cancelled"]);
  const [billed] = await cancelled("billed");
  assert.deepEqual(billed, { state: "cancelled", usage: { outputs: 1, durationMs: 5000 } });
});

Deno.test("a served simulator gives the same results and reports submissions", STRICT, async () => {
  await using server = serveSimulator({ defaults: "seconds=0" });
  const client = new MediaClient("", server);
  const { id, status } = await client.submit({ ...small, reference: "task_net" });
  assert.ok(status?.state === "succeeded");
  const [over] = await Promise.all(status.outputs.map((output) => client.fetch(output)));
  const [within] = await new MediaClient().make(small);
  assert.deepEqual(over, within);
  assert.equal(await client.find("task_net"), id);
  const told = await fetch(new URL("/_simulator/submissions", server.baseUrl));
  assert.deepEqual(await told.json(), { task_net: 1 });
  await using cutting = serveSimulator({ defaults: "cut" });
  const lost = new MediaClient("", cutting);
  await assert.rejects(lost.submit({ reference: "task_lost" }), failsWith({ received: "unknown" }));
  assert.ok(await lost.find("task_lost"));
});

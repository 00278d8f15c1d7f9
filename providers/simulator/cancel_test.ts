import assert from "node:assert/strict";
import { openSimulator, type Simulator } from "./simulator.ts";
import { eventsOf, send, sendWhole, STRICT, user } from "./test_client.ts";
import { sleep } from "../../src/lib/timers.ts";

const told = (directives: string) => ({ messages: user(`Hello [[simulate: ${directives}]]`) });

function assertCancelled(simulator: Simulator): void {
  assert.deepEqual(simulator.counters, { started: 1, finished: 0, cancelled: 1 });
}

Deno.test("requests are counted by how they end", STRICT, async () => {
  const simulator = openSimulator();
  await (await send(told("pace=0"), { simulator })).text();
  await (await send({ ...told("tokens=5"), stream: true }, { simulator })).text();
  await (await send(told("status=500"), { simulator })).text();
  await assert.rejects(send(told("refuse"), { simulator }));
  assert.deepEqual(simulator.counters, { started: 4, finished: 4, cancelled: 0 });
});

Deno.test("a caller who leaves before the answer is not answered", STRICT, async () => {
  for (const directives of ["hang", "latency=60s", "pace=500ms"]) {
    const simulator = openSimulator();
    const gone = new AbortController();
    setTimeout(() => gone.abort(new Error("gone")), 20);
    const answer = send(told(directives), { simulator, signal: gone.signal });
    await assert.rejects(answer, /gone/, directives);
    assertCancelled(simulator);
  }
});

Deno.test("a caller who has already left is not answered at all", STRICT, async () => {
  const simulator = openSimulator();
  await assert.rejects(send(told("pace=0"), { simulator, signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
});

Deno.test("a signal stops a stream at once", STRICT, async () => {
  for (const directives of ["hang=2", "endless", "pace=60s", "tokens=5000"]) {
    const simulator = openSimulator();
    const gone = new AbortController();
    const response = await send({ ...told(directives), stream: true }, {
      simulator,
      signal: gone.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    const start = performance.now();
    setTimeout(() => gone.abort(new Error("gone")), 20);
    const rest = (async () => {
      while (!(await reader.read()).done) {
        // The timer gets its turn even where there is always something to read.
        if (directives.startsWith("tokens")) await sleep(1);
      }
    })();
    await assert.rejects(rest, /gone/, directives);
    assert.ok(performance.now() - start < 1000);
    assertCancelled(simulator);
  }
});

Deno.test("a reader who cancels stops a stream at once", STRICT, async () => {
  for (const directives of ["hang=2", "endless", "pace=60s", "tokens=5000"]) {
    const simulator = openSimulator();
    const response = await send({ ...told(directives), stream: true }, { simulator });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    assertCancelled(simulator);
  }
});

Deno.test("a stream without end goes on, and lets others have their turn", STRICT, async () => {
  const simulator = openSimulator();
  const response = await send({ ...told("endless tokens=3"), stream: true }, { simulator });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk, { stream: true });
    if (eventsOf(text).length > 30) break;
  }
  assert.equal(text.includes("[DONE]"), false);
  assert.equal(text.includes('"finish_reason":"stop"'), false);
  assertCancelled(simulator);
});

Deno.test("a stream without a single word goes on all the same", STRICT, async () => {
  const body = { ...told("endless tokens=1"), stream: true };
  const { choices: [{ message }] } = await sendWhole(told("tokens=1"));
  const response = await send({ ...body, stop: message.content });
  const reader = response.body!.getReader();
  for (let read = 0; read < 5; read++) assert.equal((await reader.read()).done, false);
  await reader.cancel();
});

Deno.test("an answer is written no faster than it is read", STRICT, async () => {
  const simulator = openSimulator();
  const response = await send({ ...told("tokens=50"), stream: true }, { simulator });
  await sleep(20);
  assert.equal(simulator.counters.finished, 0);
  await response.text();
  assert.equal(simulator.counters.finished, 1);
});

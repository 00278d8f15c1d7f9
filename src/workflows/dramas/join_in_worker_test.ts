import assert from "node:assert/strict";
import { crowdedMp4 } from "../../../test/helpers/hostile_media.ts";
import { mp3, videoOf } from "../../../test/helpers/shots.ts";
import { joinInWorker } from "./join_in_worker.ts";
import { CannotJoin } from "./open_shot.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const never = new AbortController().signal;

Deno.test(
  "shots are joined in a worker, and a reason why not comes back with its shot",
  STRICT,
  async () => {
    const red = await (await videoOf("red", 1)).bytes();
    const blue = await (await videoOf("blue", 1)).bytes();
    const line = await (await mp3(2)).bytes();
    const shots =
      () => [{ video: red.slice(), line: line.slice() }, { video: blue.slice(), line: null }];
    const joined = await joinInWorker(shots(), never);
    assert.ok(Math.abs(joined.durationMs - 3000) < 100, `${joined.durationMs}`);
    assert.ok(joined.bytes.length > red.length);
    const broken = [...shots(), { video: new Uint8Array(100), line: null }];
    await assert.rejects(
      joinInWorker(broken, never),
      (error) => error instanceof CannotJoin && error.shot === 2,
    );
  },
);

Deno.test(
  "a shot that fills a parser's memory cannot be joined, and the main thread goes on",
  STRICT,
  async () => {
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 20);
    const shots = [{ video: crowdedMp4(4_000_000_000), line: null }];
    await assert.rejects(joinInWorker(shots, never, { deadlineMs: 2000 }), CannotJoin);
    clearInterval(ticking);
    assert.ok(ticks > 20, `${ticks}`);
  },
);

Deno.test("joining ends when its task does", STRICT, async () => {
  const leaving = new AbortController();
  const shots = [{ video: crowdedMp4(4_000_000_000), line: null }];
  const joining = joinInWorker(shots, leaving.signal);
  setTimeout(() => leaving.abort(), 100);
  await assert.rejects(joining, { name: "AbortError" });
});

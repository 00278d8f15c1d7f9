import assert from "node:assert/strict";
import { EventSplitter } from "../../../src/upstream/event_stream.ts";
import { mutate } from "../mutate.ts";
import { Random } from "../random.ts";
import type { FuzzTarget } from "../target.ts";

const TOKENS = [
  "data:",
  "data: ",
  "event: ",
  "\n",
  "\r\n",
  "\r",
  "\n\n",
  ": ",
  "id: 1",
  "\uFEFF",
  "ü",
];

/** The events of a stream do not depend on how its bytes are cut. */
const target: FuzzTarget = {
  generate: (random, corpus) => mutate(random, { corpus, tokens: TOKENS }),
  run(input) {
    const random = new Random(input.length);
    const whole = split(input, []);
    assert.deepEqual(split(input, random.cuts(input.length)), whole);
    for (const { data, event } of whole) {
      assert.ok(!data.includes("\r"));
      assert.ok(!/[\r\n]/.test(event ?? ""));
    }
  },
};

function split(bytes: Uint8Array, cuts: readonly number[]) {
  const splitter = new EventSplitter();
  const ends = [...cuts, bytes.length];
  return ends.flatMap((to, at) => splitter.push(bytes.subarray(ends[at - 1] ?? 0, to)));
}

export default target;

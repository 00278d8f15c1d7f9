import assert from "node:assert/strict";
import type { Listener } from "../../platform/cluster/cluster.ts";
import { RunningStreams } from "./running_streams.ts";

function open() {
  const ended: string[] = [];
  let change: Listener = () => {};
  const streams = new RunningStreams({ onChange: (listener) => change = listener });
  const watch = (account: string, name: string) => streams.watch(account, () => ended.push(name));
  return { ended, watch, change: (...event: Parameters<Listener>) => change(...event) };
}

Deno.test("the streams of a stopped account end, those of others and those that are over do not", () => {
  const { ended, watch, change } = open();
  watch("acc_1", "one");
  watch("acc_2", "other");
  const over = watch("acc_1", "over");
  watch("acc_1", "two");
  over[Symbol.dispose]();
  change("account", "acc_1");
  change("api_key", "acc_1");
  assert.deepEqual(ended, []);
  change("account_stopped", "acc_1");
  assert.deepEqual(ended, ["one", "two"]);
});

Deno.test("a stream that begins after its account was stopped ends, until the account is changed again", async () => {
  const { ended, watch, change } = open();
  change("account_stopped", "acc_1");
  watch("acc_1", "late");
  watch("acc_1", "gone")[Symbol.dispose]();
  await Promise.resolve();
  assert.deepEqual(ended, ["late"]);
  change("account", "acc_1");
  watch("acc_1", "again");
  await Promise.resolve();
  assert.deepEqual(ended, ["late"]);
});

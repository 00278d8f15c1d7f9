import assert from "node:assert/strict";
import type { Sql } from "postgres";
import { Announcements } from "./announcements.ts";

/** A database that remembers what it was asked to send, and fails as often as told. */
function openSender(failures: number) {
  const sent: string[][] = [];
  const sql = (_: TemplateStringsArray, _channel: string, subjects: string[]) => {
    if (failures-- > 0) return Promise.reject(new Error("too many notifications in the queue"));
    sent.push(subjects);
    return Promise.resolve([]);
  };
  return { announcements: new Announcements(sql as unknown as Sql), sent };
}

Deno.test("messages that come during a statement share the next one", async () => {
  const { announcements, sent } = openSender(0);
  for (const subject of ["a", "b", "b", "c"]) announcements.send(subject);
  await announcements[Symbol.asyncDispose]();
  assert.deepEqual(sent, [["a"], ["b", "c"]]);
  announcements.send("late");
  assert.equal(sent.length, 2, "a closed one sends nothing");
});

Deno.test("a message that cannot be sent is lost, and the next one is sent", async () => {
  const { announcements, sent } = openSender(1);
  announcements.send("lost");
  await new Promise((resume) => setTimeout(resume, 0));
  announcements.send("sent");
  await announcements[Symbol.asyncDispose]();
  assert.deepEqual(sent, [["sent"]]);
});

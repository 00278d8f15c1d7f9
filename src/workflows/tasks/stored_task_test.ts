import assert from "node:assert/strict";
import { StoredJsonError } from "../../lib/stored_json.ts";
import { parseEventData } from "../../domain/webhooks/event.ts";
import {
  parseTaskJob,
  parseTaskOutputs,
  parseTaskStages,
  parseUpstreamResult,
} from "./stored_task.ts";

const OUTPUT = { index: 0, type: "image", file_id: "file_1", mime_type: "image/png", bytes: 1 };

Deno.test("stored jobs, stages, results and events without later fields get their defaults", () => {
  assert.deepEqual(parseTaskJob({ prompt: "a tide", parameters: { n: 2 } }), {
    prompt: "a tide",
    parameters: { n: 2 },
    inputs: [],
  });
  assert.deepEqual(parseTaskStages([{ stage: "script", status: "waiting" }]), [
    { stage: "script", status: "waiting", progress: 0, outputs: [] },
  ]);
  assert.deepEqual(parseUpstreamResult({ outputs: [{ url: "https://a.example/1" }] }), {
    outputs: [{ url: "https://a.example/1", headers: {}, mimeType: null }],
    usage: null,
  });
  assert.deepEqual(parseEventData('{"task_id":"task_1","status":"failed"}'), {
    task_id: "task_1",
    status: "failed",
    output: [],
  });
});

Deno.test("fields of outputs that this version does not know are kept", () => {
  const newer = { ...OUTPUT, frame_rate: 25 };
  assert.deepEqual(parseTaskOutputs([newer]), [newer]);
});

Deno.test("an unreadable field is named, its value is not", () => {
  const secret = "a client's words";
  for (
    const read of [
      () => parseTaskJob({ prompt: [secret] }),
      () => parseTaskOutputs([{ ...OUTPUT, bytes: secret }]),
      () => parseTaskStages([{ stage: "script", status: secret }]),
      () => parseUpstreamResult({ outputs: [{ url: 7, mimeType: secret }] }),
      () => parseEventData(secret),
    ]
  ) {
    assert.throws(read, (error) => {
      assert.ok(error instanceof StoredJsonError);
      assert.doesNotMatch(error.message, /client/);
      return true;
    });
  }
});

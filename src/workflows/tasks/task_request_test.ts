import assert from "node:assert/strict";
import { toTaskRequest } from "./task_request.ts";

Deno.test("a media job shows its prompt, parameters and inputs", () => {
  assert.deepEqual(
    toTaskRequest({
      prompt: "A tide",
      parameters: { n: 2, size: "512x512" },
      inputs: [{ role: "reference", file_id: "file_1" }, {
        role: "reference",
        url: "https://a.b/c",
      }],
    }),
    {
      texts: { prompt: "A tide" },
      parameters: { n: 2, size: "512x512" },
      inputs: ["file_1", "https://a.b/c"],
    },
  );
});

Deno.test("a drama job shows its texts and its last stage", () => {
  assert.deepEqual(
    toTaskRequest({
      title: "The lighthouse",
      script: "",
      episode: 1,
      aspect_ratio: null,
      until: "video",
      shots_max: 3,
      pipeline: { script: { model: "sim-chat" } },
      prices: {},
    }),
    {
      texts: { title: "The lighthouse" },
      parameters: { episode: 1, shots_max: 3, stage: "video" },
      inputs: [],
    },
  );
});

Deno.test("a job of an older version shows what it has", () => {
  assert.deepEqual(toTaskRequest({ prompt: "A tide" }), {
    texts: { prompt: "A tide" },
    parameters: {},
    inputs: [],
  });
  assert.deepEqual(toTaskRequest(null), { texts: {}, parameters: {}, inputs: [] });
});

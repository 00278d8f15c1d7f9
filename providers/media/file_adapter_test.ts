import assert from "node:assert/strict";
import { mediaAdapter } from "./file_adapter.ts";
import type { MediaRules } from "./media_file.ts";

Deno.test("the condition of a preparation can read the maps of the file", async () => {
  const adapter = mediaAdapter({}, {
    maps: { uploads: { big: "yes" } },
    prepare: {
      upload: { path: "/uploads", when: '=$lookup(maps.uploads, model) = "yes"' },
    },
    submit: { path: "/jobs" },
    id: "=id",
    outputs: { url: "=url" },
  } as unknown as MediaRules);
  const job = {
    type: "video",
    reference: "task_1",
    prompt: null,
    parameters: {},
    inputs: [],
    callbackUrl: null,
  } as const;
  const target = (model: string) => ({
    model,
    baseUrl: "http://provider.test",
    apiKey: null,
    headers: {},
  });
  const paths = async (model: string) =>
    (await adapter.prepare!(job, target(model))).map(({ url }) => new URL(url).pathname);
  assert.deepEqual([await paths("big"), await paths("small")], [["/uploads"], []]);
});

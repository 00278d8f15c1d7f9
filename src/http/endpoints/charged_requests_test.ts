import assert from "node:assert/strict";
import type { Route } from "../../platform/config/config.ts";
import { generationRequest } from "./charged_requests.ts";

function routeTo(path: string, type: Route["type"], requestSchema: Route["requestSchema"]): Route {
  return {
    path,
    operation: "generation",
    type,
    request: "./own.json@1",
    requestSchema,
    stage: "released",
    deprecatedAt: null,
    sunsetAt: null,
    notice: null,
  };
}

Deno.test("two routes may share a schema: each has the fields of its own type", () => {
  const schema = { properties: { prompt: { maxLength: 3 } } };
  const image = generationRequest(routeTo("/images/short", "image", schema))!;
  const video = generationRequest(routeTo("/videos/short", "video", schema))!;
  assert.deepEqual([image.schema.title, video.schema.title], [
    "ImagesShortRequest",
    "VideosShortRequest",
  ]);
  assert.throws(() => image.check({ model: "m", prompt: "a", duration: 5 }), /duration is unknown/);
  video.check({ model: "m", prompt: "a", duration: 5 });
  assert.throws(() => video.check({ model: "m", prompt: "abcd" }), /longer than 3 characters/);
});

Deno.test("a closed schema leaves out the other fields, and its references lead into the document", () => {
  const route = routeTo("/tiny", "image", {
    $id: "https://example.com/tiny",
    additionalProperties: false,
    $defs: { size: { enum: ["1x1"] } },
    properties: { model: {}, prompt: {}, size: { $ref: "#/$defs/size" } },
  });
  const { schema, check } = generationRequest(route)!;
  assert.deepEqual(Object.keys(schema.properties), ["model", "prompt", "size"]);
  assert.equal(schema.properties.size.$ref, "#/components/schemas/TinyRequest/$defs/size");
  assert.equal(schema.$id, undefined);
  assert.throws(() => check({ model: "m", prompt: "a", n: 1 }), /n is unknown/);
  assert.throws(() => check({ model: "m", prompt: "a", size: "2x2" }), /must be one of 1x1/);
  // The same `$id` comes back with every reload.
  generationRequest({ ...route })!.check({ model: "m", prompt: "a", size: "1x1" });
});

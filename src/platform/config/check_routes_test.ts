import assert from "node:assert/strict";
import { openAdapters } from "../../../providers/registry.ts";
import { compileConfig } from "./compile.ts";

const DECLARED = `providers: { sim: { adapter: simulator } }
models: [{ id: draw, name: Draw, type: image, capabilities: [text_to_image], upstreams: [{ provider: sim }] }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: draw, billing_type: per_call, price: "0.01", unit: image }]
routes:
  - { path: /images/generations, operation: generation, type: image, stage: planned }
`;

/** What a build that can generate says to one more route. */
function describeIssues(route: string): string[] {
  const { issues } = compileConfig({
    file: "gateway.yaml",
    source: `${DECLARED}  - { path: /more, operation: generation, ${route} }\n`,
    environment: {},
    capabilities: {
      adapters: openAdapters(),
      operations: new Map([["generation", { serves: ["image", "video"] }]]),
      standardRoutes: [],
      requests: new Set(["images_generations"]),
    },
    now: Date.parse("2026-06-01T00:00:00Z"),
  });
  return issues.map(({ path, message, suggestion }) =>
    [path, message, suggestion].filter(Boolean).join(": ")
  );
}

Deno.test("a generation route uses the request schema of its type, or the configured one", () => {
  assert.deepEqual(describeIssues("type: image"), []);
  assert.deepEqual(describeIssues("type: video, request: images_generations"), []);
});

Deno.test("a generation route needs a request schema that this build has", () => {
  assert.deepEqual(describeIssues("type: video"), [
    'routes[1].type: there is no request schema "videos_generations": ' +
    "Set request to another schema, or set stage: planned.",
  ]);
  assert.deepEqual(describeIssues("type: image, request: image_generations"), [
    'routes[1].request: there is no request schema "image_generations": Did you mean "images_generations"?',
  ]);
});

Deno.test("a planned route may name a request schema that this build does not have", () => {
  assert.deepEqual(describeIssues("type: video, request: music_generations, stage: planned"), []);
});

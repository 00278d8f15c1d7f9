import assert from "node:assert/strict";
import { readSettings } from "./environment.ts";

const read = (variables: Record<string, string>) => readSettings(variables).tracing;
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

Deno.test("there are no traces without a collector, or where they are disabled", () => {
  assert.equal(read({}), null);
  assert.equal(read({ OTEL_SERVICE_NAME: "a" }), null);
  assert.equal(read({ ...ENDPOINT, OTEL_SDK_DISABLED: "true" }), null);
  assert.equal(read({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }), null);
});

Deno.test("the variables of OpenTelemetry say where traces go, as what, and which", () => {
  const plain = read(ENDPOINT)!;
  assert.equal(plain.url, "http://collector:4318/v1/traces");
  assert.deepEqual([plain.sampler, plain.ratio], ["parentbased_always_on", 1]);
  assert.equal(plain.resource["service.name"], "tollgate");
  const own = read({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example/in",
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b, team = x=y",
    OTEL_SERVICE_NAME: "gateway",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=prod",
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.1",
    OTEL_BSP_SCHEDULE_DELAY: "100",
  })!;
  assert.equal(own.url, "https://traces.example/in");
  assert.deepEqual(own.headers, { "api-key": "a b", team: "x=y" });
  assert.equal(own.resource["service.name"], "gateway");
  assert.equal(own.resource["deployment.environment.name"], "prod");
  assert.deepEqual([own.sampler, own.ratio, own.limits.gatherMs], [
    "parentbased_traceidratio",
    0.1,
    100,
  ]);
});

Deno.test("what cannot be used is refused with its name", () => {
  for (
    const [name, value] of [
      ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
      ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
      ["OTEL_EXPORTER_OTLP_HEADERS", "no pair"],
      ["OTEL_EXPORTER_OTLP_HEADERS", "a=%"],
      ["OTEL_TRACES_SAMPLER", "sometimes"],
      ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ] as const
  ) {
    assert.throws(() => read({ ...ENDPOINT, [name]: value }), new RegExp(name), `${name}=${value}`);
  }
});

import assert from "node:assert/strict";
import { Validator } from "@seriousme/openapi-schema-validator";
import { COMMANDS } from "../src/cli/main.ts";
import { type AppDeps, buildApp } from "../src/http/app.ts";
import { openapi } from "../src/http/openapi.ts";
import { healthRoutes } from "../src/http/routes/health.ts";
import { AREAS } from "../src/http/routes/registry.ts";
import type { Config } from "../src/platform/config/config.ts";
import type { Json } from "./helpers/chat_gateway.ts";
import { compileText, SHIPPED } from "./helpers/valid_config.ts";

const PLANNED = SHIPPED.replace(
  "operation: quotes, stage: preview",
  "operation: quotes, stage: planned",
)
  .replace("{ path: /files, operation: files", "{ path: /my/uploads, operation: files");

function compiled(source: string): Config {
  const { config, issues } = compileText(source);
  assert.ok(config !== null, JSON.stringify(issues));
  return config;
}

/** The parts that handlers are made with are not used until a request comes. */
function noDeps(): AppDeps {
  const part: unknown = new Proxy(() => part, { get: () => part });
  return new Proxy({} as AppDeps, {
    get: (_, name) => name === "adminToken" || name === "metricsToken" ? "a token" : part,
  });
}

/** Every operation of a document as `GET /v1/models`. */
function documented(document: Json): [endpoint: string, operation: Json][] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]): [string, Json] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ])
  );
}

for (const [name, source] of [["shipped", SHIPPED], ["planned and moved", PLANNED]] as const) {
  Deno.test(`every mounted route is in /openapi.json, and the other way round: ${name}`, () => {
    const config = compiled(source);
    const mounted = buildApp(config, noDeps()).routes.map(({ method, path }) =>
      `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`
    );
    const probes = healthRoutes.routes.map(({ method, path }) => `${method} ${path}`);
    const released = documented(openapi(config)).filter(([, operation]) =>
      operation["x-stage"] !== "planned"
    ).map(([endpoint]) => endpoint);
    assert.deepEqual([...mounted, ...probes].sort(), released.sort());
    assert.ok(released.length > 60, String(released.length));
  });

  Deno.test(`the document is OpenAPI 3.1 by a public validator: ${name}`, async () => {
    const document = openapi(compiled(source));
    const result = await new Validator().validate(structuredClone(document) as Json);
    assert.equal(result.valid, true, JSON.stringify(result.errors));
  });
}

Deno.test("a planned or moved route is documented with the methods of its operation", () => {
  const { paths } = openapi(compiled(PLANNED)) as Json;
  assert.deepEqual(Object.keys(paths["/v1/quotes"]), ["post"]);
  assert.equal(paths["/v1/quotes"].post["x-stage"], "planned");
  assert.match(paths["/v1/quotes"].post.description, /^Planned: not released yet/);
  assert.deepEqual(Object.keys(paths["/v1/my/uploads"]), ["post", "get"]);
  assert.deepEqual(Object.keys(paths["/v1/my/uploads/{file_id}"]), ["get", "delete"]);
  assert.equal(paths["/v1/files"], undefined);
});

Deno.test("every operation has a summary of its own style and an example for all that it requires", () => {
  const document = openapi(compiled(SHIPPED)) as Json;
  for (const [endpoint, { summary, parameters = [], requestBody }] of documented(document)) {
    assert.match(summary, /^[A-Z][a-z]+ .*[^.]$/, endpoint);
    for (const { name, in: place, required, example } of parameters) {
      assert.ok(!required || example !== undefined, `${endpoint}: no example for ${place} ${name}`);
    }
    const json = requestBody?.content["application/json"];
    assert.ok(json === undefined || json.example !== undefined, `${endpoint}: no example`);
  }
});

Deno.test("every path parameter is described where its path has it, and nowhere else", () => {
  for (const { path, parameters = [], summary } of AREAS.flatMap(({ routes }) => routes)) {
    const described = parameters.filter((each) => each.in === "path").map(({ name }) => name);
    const written = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(described, written, `${path}: ${summary}`);
  }
});

Deno.test("every field of every request and response has a description", () => {
  const { paths, components } = openapi(compiled(SHIPPED)) as Json;
  const missing: string[] = [];
  let fields = 0;
  const look = (node: Json, at: string) => {
    if (typeof node !== "object" || node === null) return;
    for (const [name, property] of Object.entries<Json>(node.properties ?? {})) {
      fields++;
      if (!property.description) missing.push(`${at}.${name}`);
      look(property, `${at}.${name}`);
    }
    for (const inner of ["items", "additionalProperties"]) look(node[inner], `${at}.${inner}`);
    for (const list of ["allOf", "anyOf", "oneOf"]) {
      for (const each of node[list] ?? []) look(each, at);
    }
  };
  for (const [name, schema] of Object.entries(components.schemas)) look(schema, name);
  for (const [endpoint, { parameters = [] }] of documented({ paths })) {
    for (const { name, description } of parameters) {
      if (!description) missing.push(`${endpoint} ${name}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(fields > 350, String(fields));
});

Deno.test("every endpoint that a command of the command line calls exists", () => {
  const known = new Set(documented(openapi(compiled(SHIPPED))).map(([endpoint]) => endpoint));
  const called = COMMANDS.flatMap(([, { endpoints = [] }]) => endpoints);
  assert.deepEqual(called.filter((endpoint) => !known.has(endpoint)), []);
  assert.ok(called.length > 15);
});

Deno.test("every endpoint that the documentation names exists", async () => {
  const shapeOf = (endpoint: string) => endpoint.replaceAll(/\{\w+\}/g, "{}");
  const known = new Set(
    documented(openapi(compiled(SHIPPED))).map(([endpoint]) => shapeOf(endpoint)),
  );
  let named = 0;
  for (const page of await pages()) {
    const text = await Deno.readTextFile(page);
    for (
      const [endpoint] of text.matchAll(/(GET|POST|PUT|PATCH|DELETE) \/(v1|admin\/v1)\/[\w/{}-]+/g)
    ) {
      named++;
      assert.ok(known.has(shapeOf(endpoint)), `${page.pathname} names ${endpoint}`);
    }
  }
  assert.ok(named > 60, String(named));
});

async function pages(): Promise<URL[]> {
  const root = new URL("../", import.meta.url);
  const found = [new URL("README.md", root)];
  for (const folder of ["use", "operate", "contribute"]) {
    const url = new URL(`docs/${folder}/`, root);
    for await (const { name } of Deno.readDir(url)) {
      // The recipe invents one.
      if (name.endsWith(".md") && name !== "adding-an-endpoint.md") found.push(new URL(name, url));
    }
  }
  return found;
}

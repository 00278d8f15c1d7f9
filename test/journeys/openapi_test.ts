import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import { openGateway } from "../helpers/open_gateway.ts";

Deno.test("/openapi.json lists the configured routes with their stages and statuses", async () => {
  await using gateway = await openGateway();
  const res = await gateway.fetch("/openapi.json");
  assert.equal(res.status, 200);
  const document = await res.json();
  assert.equal(document.openapi, "3.1.0");
  assert.ok(document.paths["/v1/models"].get.security[0].api_key);
  assert.equal(document.paths["/v1/chat/completions"].post["x-stage"], "released");
  assert.equal(document.paths["/v1/audio/speech"].post["x-stage"], "released");
  const statusesOf = ({ responses }: { responses: object }) => Object.keys(responses);
  assert.deepEqual(statusesOf(document.paths["/v1/tasks/{task_id}/cancel"].post), [
    ...["200", "202", "default"],
  ]);
  assert.deepEqual(statusesOf(document.paths["/v1/files/{file_id}/content"].get), [
    ...["200", "206", "304", "416", "default"],
  ]);
  assert.deepEqual(statusesOf(document.paths["/admin/v1/accounts/{id}/credits"].post), [
    ...["200", "201", "default"],
  ]);
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path as object))
    .map((operation) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length, "operation ids are unique");
});

Deno.test("an error has the shape that /openapi.json promises", async () => {
  await using gateway = await openGateway();
  const document = await (await gateway.fetch("/openapi.json")).json();
  const ajv = new Ajv2020.default({ strict: false });
  ajv.addSchema({ $id: "doc", ...document });
  const check = ajv.getSchema("doc#/components/schemas/Error")!;
  const body = await (await gateway.get("/v1/nothing")).json();
  assert.ok(check(body), JSON.stringify([check.errors, body]));
});

import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Validator } from "@seriousme/openapi-schema-validator";
import { png } from "../helpers/media.ts";
import { openGateway } from "../helpers/open_gateway.ts";

Deno.test("/openapi.json is OpenAPI 3.1 by a public validator, and lists the declared routes", async () => {
  await using gateway = await openGateway();
  const res = await gateway.fetch("/openapi.json");
  assert.equal(res.status, 200);
  const document = await res.json();
  assert.equal(document.openapi, "3.1.0");
  const result = await new Validator().validate(structuredClone(document));
  assert.equal(result.valid, true, JSON.stringify(result.errors));
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

Deno.test("real answers have the shapes that /openapi.json promises", async () => {
  await using gateway = await openGateway();
  const document = await (await gateway.fetch("/openapi.json")).json();
  const ajv = new Ajv2020.default({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "doc", ...document });
  const follows = async (res: Response, name: string) => {
    const check = ajv.getSchema(`doc#/components/schemas/${name}`)!;
    const body = await res.json();
    assert.ok(
      check(body),
      `${name}: ${JSON.stringify(check.errors)} in ${JSON.stringify(body).slice(0, 500)}`,
    );
  };
  await follows(await gateway.get("/v1/models"), "ModelList");
  await follows(await gateway.get("/v1/models/tiny-video"), "ModelDetail");
  await follows(await gateway.get("/v1/pricing/models"), "PriceList");
  await follows(await gateway.get("/v1/nothing"), "Error");
  await follows(await gateway.get("/v1/balance"), "Balance");
  await follows(await gateway.get("/v1/usage"), "ReceiptList");
  const credit = { kind: "cash", amount: "1", reference: "r" };
  await follows(
    await gateway.admin("POST", `/accounts/${gateway.account}/credits`, credit),
    "Credit",
  );
  await follows(
    await gateway.admin("PUT", `/accounts/${gateway.account}/plan`, { plan: "pro" }),
    "Account",
  );
  await follows(await gateway.admin("GET", "/ledger/verify"), "Verification");
  await follows(await gateway.admin("POST", "/accounts", { name: "x" }), "Account");
  await follows(await gateway.admin("GET", "/accounts"), "AccountList");
  await follows(
    await gateway.admin("POST", `/accounts/${gateway.account}/keys`, { name: "x" }),
    "ApiKey",
  );
  await follows(await gateway.admin("GET", `/accounts/${gateway.account}/keys`), "ApiKeyList");
  await follows(await gateway.admin("GET", "/config"), "Config");
  const form = new FormData();
  form.append("purpose", "generation");
  form.append("file", new Blob([png()]));
  const headers = { authorization: `Bearer ${gateway.key}` };
  const uploaded = await gateway.fetch("/v1/files", { method: "POST", headers, body: form });
  const { id } = await uploaded.clone().json();
  await follows(uploaded, "File");
  await follows(await gateway.get("/v1/files"), "FileList");
  await follows(
    await gateway.fetch(`/v1/files/${id}`, { method: "DELETE", headers }),
    "DeletedFile",
  );
});

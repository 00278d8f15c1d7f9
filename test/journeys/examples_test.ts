import assert from "node:assert/strict";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { recordActivation } from "../../src/platform/cluster/config_history.ts";
import { storeConfig } from "../../src/workflows/tasks/config_versions.ts";
import { SAMPLE } from "../../src/http/routes/sample_ids.ts";
import { type Json, until } from "../helpers/chat_gateway.ts";
import { shippedWith } from "../helpers/console_gateway.ts";
import { png, wav } from "../helpers/media.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { ADMIN_TOKEN } from "../helpers/open_gateway.ts";
import { type Receiver, startReceiver } from "../helpers/receiver.ts";

/** A request for one operation of the document, made of its examples. */
interface Example {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

Deno.test("the example of every operation gets the promised status and a body that fits", async (t) => {
  await using receiver = startReceiver();
  await using gateway = await openMediaGateway({
    config: await shippedWith("outbound: { allow_private: true }"),
    cash: "100",
    settings: { secretsKeys: ["0123456789abcdef0123456789abcdef"] },
  });
  const document = await (await gateway.fetch("/openapi.json")).json();
  const { configStore, database: { sql } } = gateway.gateway;
  await storeConfig(sql, "0123456789ab", configStore.text);
  await recordActivation(sql, "0123456789ab");
  const ajv = new Ajv2020.default({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "document", ...document });
  const fixtures = openFixtures(gateway, receiver);
  const isEmbedded = gateway.gateway.database.kind === "embedded";
  for (const example of examplesOf(document)) {
    // A database on a server is not backed up by the gateway.
    if (example.path === "/admin/v1/backups" && !isEmbedded) continue;
    const { method, path, operation } = example;
    await t.step(`${method.toUpperCase()} ${path}`, async () => {
      const response = await send(gateway, example, fixtures);
      const { content } = operation.responses[response.status] ?? {};
      const isPromised = response.status < 300 && operation.responses[response.status];
      assert.ok(isPromised, `${response.status}: ${await response.clone().text()}`);
      const body = await assertContent(
        response,
        content ?? {},
        (ref) => ajv.getSchema(`document${ref}`)!,
      );
      const { schema } = content?.["application/json"] ?? {};
      if (schema !== undefined) assert.deepEqual(undocumented(document, schema, body, ""), []);
      // A plan changes nothing.
      const isAction = method !== "get" && path !== "/admin/v1/config/plan";
      if (path.startsWith("/admin/") && isAction) await assertAudited(gateway, response);
    });
  }
});

/** Every action in the admin API is in the audit log. */
async function assertAudited(gateway: MediaGateway, response: Response): Promise<void> {
  const id = response.headers.get("x-request-id")!;
  const { data } = await (await gateway.admin("GET", `/audit?request_id=${id}`)).json();
  assert.ok(data.length > 0, "it has an entry of the audit log");
  for (const { actor, via } of data) assert.deepEqual([actor.kind, via], ["root", "api"]);
}

function examplesOf(document: Json): Example[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods)
      .filter(([, operation]) => operation["x-stage"] !== "planned")
      .map(([method, operation]) => ({ method, path, operation }))
  );
}

async function send(
  gateway: MediaGateway,
  { method, path, operation }: Example,
  fixtures: Fixtures,
): Promise<Response> {
  const examples = (place: string): [string, string][] =>
    (operation.parameters ?? [])
      .filter((parameter: Json) => parameter.in === place && parameter.example !== undefined)
      .map(({ name, example }: Json) => [name, String(example)]);
  const filled = examples("path").reduce((url, [name, value]) => {
    return url.replace(`{${name}}`, encodeURIComponent(value));
  }, path);
  assert.ok(!filled.includes("{"), `${path} has a parameter without an example`);
  const query = String(new URLSearchParams(examples("query")));
  const { "application/json": json, "multipart/form-data": form } = operation.requestBody
    ?.content ?? {};
  assert.ok(json === undefined || json.example !== undefined, `${path} has no example of its body`);
  const url = await fill(fixtures, query === "" ? filled : `${filled}?${query}`);
  const body = json === undefined ? null : await fill(fixtures, JSON.stringify(json.example));
  const upload = new FormData();
  upload.set("purpose", "generation");
  upload.set("file", new File([png(64, 64)], "portrait.png"));
  return await gateway.fetch(signed(gateway, url), {
    method: method.toUpperCase(),
    headers: {
      ...credentials(gateway, operation),
      ...Object.fromEntries(examples("header")),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
    },
    body: form === undefined ? body : upload,
  });
}

function credentials(gateway: MediaGateway, { security }: Json): Record<string, string> {
  const [scheme] = security.flatMap(Object.keys);
  if (scheme === undefined) return {};
  return { authorization: `Bearer ${scheme === "admin_token" ? ADMIN_TOKEN : gateway.key}` };
}

async function assertContent(
  response: Response,
  content: Json,
  schemaAt: (ref: string) => ValidateFunction,
): Promise<unknown> {
  const type = response.headers.get("content-type")?.split(";")[0] ?? null;
  const promised = Object.keys(content);
  if (promised.length === 0) return assert.equal(await response.text(), "");
  const matching = promised.find((each) =>
    each === type || each === "*/*" || (each.endsWith("/*") && type?.startsWith(each.slice(0, -1)))
  );
  assert.ok(matching, `${type} is not one of ${promised.join(", ")}`);
  if (type === "text/event-stream") return await response.body!.cancel();
  const { schema } = content[matching];
  if (schema === undefined) return assert.ok((await response.bytes()).length > 0);
  const check = schemaAt(schema.$ref);
  const body = await response.json();
  assert.ok(check(body), `${JSON.stringify(check.errors)} in ${JSON.stringify(body)}`);
  return body;
}

/** Fields of a response that its schema does not name, where the schema names fields at all. */
function undocumented(document: Json, schema: Json, value: Json, at: string): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1);
    return undocumented(document, document.components.schemas[name], value, at);
  }
  if (Array.isArray(value)) {
    return value.flatMap((item) => undocumented(document, schema.items ?? {}, item, `${at}[]`));
  }
  if (typeof value !== "object" || value === null) return [];
  const parts: Json[] = [schema, ...schema.allOf ?? [], ...schema.anyOf ?? []];
  const known: Json = Object.assign({}, ...parts.map((part) => propertiesOf(document, part)));
  if (Object.keys(known).length === 0) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    known[name] === undefined
      ? [`${at}.${name}`]
      : undocumented(document, known[name], inner, `${at}.${name}`)
  );
}

function propertiesOf(document: Json, { $ref, properties }: Json): Json {
  if ($ref === undefined) return properties ?? {};
  return document.components.schemas[$ref.split("/").at(-1)].properties;
}

type Fixtures = ReadonlyMap<string, () => Promise<string>>;

/** Puts ids that exist in place of the sample ids. */
async function fill(fixtures: Fixtures, text: string): Promise<string> {
  let filled = text;
  for (const [sample, make] of fixtures) {
    const written = [sample, encodeURIComponent(sample)].find((each) => text.includes(each));
    if (written !== undefined) filled = filled.replaceAll(written, await make());
  }
  return filled;
}

/** The URL as the gateway signs it: nothing but a signature lets a request pass there. */
function signed({ gateway: { files } }: MediaGateway, url: string): string {
  const [, area, id] = /^\/(content|callbacks)\/(\w+)/.exec(url) ?? [];
  if (id === undefined) return url;
  const now = Date.now();
  const whole = area === "content" ? files.signedUrl(id, now).url : files.callbackUrl(id, now);
  return whole.slice(new URL(whole).origin.length);
}

/** Makes what the examples are about, anew for each of them: some delete it. */
function openFixtures(gateway: MediaGateway, receiver: Receiver): Fixtures {
  const { sql } = gateway.gateway.database;
  const submit = async (prompt = "a tide") =>
    (await gateway.submit("/v1/videos/generations", { model: "sim-video", prompt, duration: 5 }))
      .id;
  const endpoint = async () =>
    (await (await gateway.post("/v1/webhook_endpoints", { url: receiver.url })).json()).id;
  return new Map<string, () => Promise<string>>([
    [SAMPLE.account, async () => (await gateway.newKey()).account],
    [SAMPLE.key, async () => (await gateway.newKey()).keyId],
    [
      SAMPLE.adminToken,
      async () => {
        const body = { name: "test", scopes: ["read"] };
        return (await (await gateway.admin("POST", "/tokens", body)).json()).id;
      },
    ],
    [SAMPLE.image, () => gateway.upload("a.png", png(64, 64))],
    [SAMPLE.audio, () => gateway.upload("a.wav", wav(2))],
    [SAMPLE.task, submit],
    [SAMPLE.endpoint, endpoint],
    [SAMPLE.response, async () => {
      const body = { model: "sim-chat", input: "Hello", background: true };
      const response = await gateway.post("/v1/responses", body);
      return (await response.json()).id;
    }],
    [SAMPLE.request, async () => {
      const body = { model: "sim-chat", messages: [{ role: "user", content: "Hello" }] };
      const response = await gateway.post("/v1/chat/completions", body);
      await response.body?.cancel();
      return response.headers.get("x-request-id")!;
    }],
    [SAMPLE.stuckTask, async () => {
      const id = await submit("[[simulate: seconds=60]] a tide");
      await until("the task is stuck", async () => {
        const { count } = await sql`
          update task set dead_at = now(), failures = 8, fence = fence + 1, lease_until = null,
                          wake_at = now() + interval '1 hour'
           where id = ${id} and phase = 'accepted'`;
        return count === 1;
      });
      return id;
    }],
    [SAMPLE.delivery, async () => {
      const test = await gateway.post(`/v1/webhook_endpoints/${await endpoint()}/test`, {});
      return (await test.json()).id;
    }],
    [SAMPLE.email, async () => {
      await register(gateway);
      await sql`update person set email_verified_at = now() where email = ${SAMPLE.email}`;
      return SAMPLE.email;
    }],
  ]);
}

async function register(gateway: MediaGateway): Promise<void> {
  const response = await gateway.fetch("/register", {
    method: "POST",
    redirect: "manual",
    headers: { origin: gateway.address, "content-type": "application/x-www-form-urlencoded" },
    body: String(
      new URLSearchParams({
        email: SAMPLE.email,
        name: "Ada",
        password: "a long sentence that is hard to guess",
      }),
    ),
  });
  await response.body?.cancel();
}

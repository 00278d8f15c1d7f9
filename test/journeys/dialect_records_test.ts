import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway } from "../helpers/chat_gateway.ts";
import { post } from "../helpers/dialects.ts";

const CONFIG = await Deno.readTextFile(new URL("../helpers/chat_config.yaml", import.meta.url));
const SECRETS_KEY = "a-key-of-the-operator-for-secrets-0123";
const TEXT = "a secret of mine";
const USER = "user-7";

/** The same request in each dialect, with what its API has for a user and for metadata. */
const DIALECTS = [
  {
    path: "/chat/completions",
    endpoint: "chat",
    body: {
      messages: [{ role: "user", content: TEXT }],
      user: USER,
      metadata: { team: "red" },
    },
  },
  {
    path: "/messages",
    endpoint: "messages",
    body: {
      max_tokens: 100,
      messages: [{ role: "user", content: TEXT }],
      metadata: { user_id: USER, team: "red" },
    },
  },
  {
    path: "/responses",
    endpoint: "responses",
    body: { input: TEXT, user: USER, metadata: { team: "red" } },
  },
];

async function keyIdOf({ gateway }: ChatGateway): Promise<string> {
  const [row] = await gateway.database.sql<[{ id: string }]>`select id from api_key`;
  return row.id;
}

for (const { path, endpoint, body } of DIALECTS) {
  for (const stream of [false, true]) {
    const name = `${path}${stream ? ", streamed" : ""}`;
    Deno.test(`${name}: receipt, request log, bodies and Server-Timing as every chat has them`, async () => {
      await using gateway = await openChatGateway({
        config: `${CONFIG}\nlogs: { bodies: all, body_bytes_max: 65536 }\n`,
        settings: { secretsKeys: [SECRETS_KEY] },
      });
      const key = await keyIdOf(gateway);
      const sent = { model: "talk", ...body, stream };
      const res = await post(gateway, path, sent, { "x-client-request-id": "mine-1" });
      const answer = await res.text();
      assert.equal(res.status, 200, answer);
      assert.match(res.headers.get("server-timing")!, /^gateway;dur=[\d.]+, upstream;dur=[\d.]+$/);

      const receipt = await gateway.receipt(res);
      const origin = [key, USER, { team: "red" }];
      assert.deepEqual([receipt.key, receipt.user, receipt.metadata], origin);
      assert.equal(receipt.client_request_id, "mine-1");

      const id = res.headers.get("x-request-id")!;
      const own: Json = await (await gateway.get(`/v1/requests/${id}`)).json();
      assert.deepEqual([own.endpoint, own.model, own.status, own.stream], [
        ...[endpoint, "talk", 200, stream],
      ]);
      assert.deepEqual([own.key, own.user, own.metadata], origin);
      assert.equal(own.charge, receipt.settled);
      assert.equal(own.usage.output_tokens, receipt.usage.output_tokens);
      assert.deepEqual(JSON.parse(own.bodies.request.text), sent);
      assert.equal(own.bodies.response.text, answer);
      assert.equal(own.attempts, undefined);

      const operators: Json = await (await gateway.admin("GET", `/requests/${id}`)).json();
      assert.deepEqual(operators.attempts.map(({ outcome }: Json) => outcome), ["ok"]);
      const [row] = await gateway.gateway.database.sql<[{ request: Uint8Array }]>`
        select request from request_body`;
      assert.ok(!new TextDecoder().decode(row.request).includes(TEXT));
      await gateway.verify();
    });
  }
}

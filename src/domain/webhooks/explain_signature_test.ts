import assert from "node:assert/strict";
import { explainSignature, type SignatureFault } from "./explain_signature.ts";
import { newWebhookSecret, signedHeaders } from "./sign.ts";

const NOW = 1_700_000_000;
const SECRET = newWebhookSecret();
const BODY = '{"id":"evt_1","type":"task.succeeded"}';
const HEADERS = signedHeaders([SECRET], "evt_1", NOW, BODY);

interface Case {
  headers?: Record<string, string | undefined>;
  body?: string;
  secret?: string;
  now?: number;
}

function explain({ headers = {}, body = BODY, secret = SECRET, now = NOW }: Case) {
  const all = Object.entries({ ...HEADERS, ...headers }).filter(([, value]) => value !== undefined);
  const captured = {
    headers: Object.fromEntries(all) as Record<string, string>,
    body: new TextEncoder().encode(body),
  };
  return explainSignature(captured, secret, now);
}

function finds(given: Case, fault: SignatureFault, message: RegExp): void {
  const verification = explain(given);
  assert.equal(verification.ok ? "ok" : verification.fault, fault);
  assert.match(verification.message, message);
}

Deno.test("a request as it was sent is right, five minutes either way", () => {
  assert.deepEqual(explain({ now: NOW + 3 }), {
    ok: true,
    message: "The signature is right, and the attempt was 3 s ago.",
  });
  assert.equal(explain({ now: NOW + 300 }).ok, true);
  assert.equal(explain({ now: NOW - 300 }).ok, true);
  finds({ now: NOW + 301 }, "timestamp_too_old", /301 s ago: .* after 300 s.*--at 1700000000/);
  finds({ now: NOW - 301 }, "timestamp_in_future", /lies 301 s in the future/);
});

Deno.test("each header must be there and readable", () => {
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    finds({ headers: { [name]: undefined } }, "missing_header", new RegExp(`header ${name} is`));
    finds({ headers: { [name]: "  " } }, "missing_header", new RegExp(`header ${name} is`));
  }
  for (const timestamp of ["2026-01-01", "1".repeat(13), "-5"]) {
    finds({ headers: { "webhook-timestamp": timestamp } }, "malformed_header", /Unix seconds: "/);
  }
  const signed = (text: string): Case => ({ headers: { "webhook-signature": text } });
  finds(signed("abc"), "malformed_header", /not a list of "v1,<base64>"/);
  finds(signed("v1,abc nonsense"), "malformed_header", /not a list of "v1,<base64>"/);
  finds(signed("v2,abc"), "malformed_header", /no signature of version v1/);
  finds(signed("v1,abc"), "malformed_header", /"abc" is not the base64 of 32 bytes/);
  const good = HEADERS["webhook-signature"]!;
  finds(signed(`${good.slice(0, -1)}?`), "malformed_header", /is not the base64 of 32 bytes/);
  finds(signed(`${good} v1,abc`), "malformed_header", /"abc" is not/);
});

Deno.test("one right signature among several is enough, whatever spaces and versions there are", () => {
  const other = signedHeaders([newWebhookSecret()], "evt_1", NOW, BODY)["webhook-signature"];
  const text = ` v1a,xyz  ${other} ${HEADERS["webhook-signature"]} `;
  assert.equal(explain({ headers: { "webhook-signature": text } }).ok, true);
});

Deno.test("a secret that is not one is told apart from a wrong one", () => {
  finds({ secret: "whsec_short" }, "malformed_secret", /whsec_ and then base64 of 24 to 64 bytes/);
  finds({ secret: newWebhookSecret() }, "wrong_secret", /is of another secret/);
  finds({ headers: { "webhook-timestamp": String(NOW + 1) } }, "wrong_secret", /another secret/);
});

Deno.test("a changed body is told apart by how it was changed", () => {
  const pretty = '{ "id": "evt_1", "type": "task.succeeded" }';
  finds({ body: `${BODY}\r\n\n` }, "body_changed", /line breaks were added at its end\. So verify/);
  finds({ body: `\uFEFF${BODY}` }, "body_changed", /byte-order mark was added/);
  finds({ body: pretty }, "body_changed", /parsed and written again as JSON/);
  finds({ body: BODY.slice(0, -1) }, "body_changed", /not JSON any more/);
  finds({ body: '"text"' }, "body_changed", /not JSON any more/);
  finds({ body: "null" }, "body_changed", /not JSON any more/);
  finds({ body: BODY.replace("evt_1", "evt_2") }, "body_changed", /event "evt_2", .* of evt_1/);
  finds({ body: pretty.replace("succeeded", "failed") }, "body_changed", /not written as/);

  const lines = '{"id":"evt_1",\n"type":"task.failed"}';
  const headers = signedHeaders([SECRET], "evt_1", NOW, lines);
  finds({ headers, body: lines.replace("\n", "\r\n") }, "body_changed", /line breaks were changed/);
});

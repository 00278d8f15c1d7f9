import assert from "node:assert/strict";
import { newWebhookSecret, secretBytes, signedHeaders } from "./sign.ts";

const secretOf = (bytes: number) => new Uint8Array(bytes).fill(7).toBase64();

Deno.test("the signature is that of Standard Webhooks' published example", () => {
  const headers = signedHeaders(
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    "msg_p5jXN8AQM9LWM0D4loKWxJek",
    1614265330,
    '{"test": 2432232314}',
  );
  assert.deepEqual(headers, {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

Deno.test("during a rotation each secret signs, the newest first", () => {
  const [first, second] = [newWebhookSecret(), newWebhookSecret()];
  const sign = (...secrets: string[]) =>
    signedHeaders(secrets, "evt_1", 1, "{}")["webhook-signature"];
  assert.equal(sign(first, second), `${sign(first)} ${sign(second)}`);
  assert.notEqual(sign(first), sign(second));
  assert.throws(() => sign(first, "whsec_?"), /stored secret/);
});

Deno.test("a new secret has 32 random bytes", () => {
  const [first, second] = [newWebhookSecret(), newWebhookSecret()];
  assert.match(first, /^whsec_/);
  assert.equal(secretBytes(first)!.length, 32);
  assert.notEqual(first, second);
});

Deno.test("a secret is base64 of 24 to 64 bytes, with or without its prefix", () => {
  for (const bytes of [24, 25, 64]) {
    const expected = new Uint8Array(bytes).fill(7);
    assert.deepEqual(new Uint8Array(secretBytes(`whsec_${secretOf(bytes)}`)!), expected);
    assert.deepEqual(new Uint8Array(secretBytes(secretOf(bytes))!), expected);
  }
  for (const secret of ["", "whsec_", secretOf(23), secretOf(65), `${secretOf(24)}!`, "whsec_ä"]) {
    assert.equal(secretBytes(secret), null, secret);
  }
});

import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { verifyEvent } from "../docs/use/receivers/verify.ts";
import { explainSignature, type SignatureFault } from "../src/domain/webhooks/explain_signature.ts";

interface Vector {
  name: string;
  valid: boolean;
  secret: string;
  now: number;
  headers: Record<string, string>;
  body: string;
}

const FOLDER = new URL("../docs/use/receivers/", import.meta.url);
const { vectors } = JSON.parse(
  Deno.readTextFileSync(new URL("vectors.json", FOLDER)),
) as { vectors: Vector[] };

/** The published library has no clock of its own to set. */
function verifiesAt(now: number, verify: () => unknown): boolean {
  const real = Date.now;
  Date.now = () => now * 1000;
  try {
    verify();
    return true;
  } catch {
    return false;
  } finally {
    Date.now = real;
  }
}

for (const vector of vectors) {
  const { name, valid, secret, now, headers, body } = vector;
  Deno.test(`test vector: ${name} is ${valid ? "accepted" : "refused"} by every verifier`, () => {
    const published = new Webhook(secret);
    assert.equal(verifiesAt(now, () => published.verify(body, headers)), valid, "the library");
    const ours = () => verifyEvent(body, (header) => headers[header], secret, now);
    assert.equal(verifiesAt(now, ours), valid, "our snippet");
    const captured = { headers, body: new TextEncoder().encode(body) };
    assert.equal(explainSignature(captured, secret, now).ok, valid, "the command line");
  });
}

/** Left out, and counted so, on a machine without Python: it is no part of what the gateway needs. */
const hasPython = await new Deno.Command("python3", { args: ["--version"], stdout: "null" })
  .output()
  .then(({ success }) => success, () => false);

Deno.test("the Python snippet agrees with every test vector", { ignore: !hasPython }, async () => {
  const script = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(FOLDER.pathname)})
from verify import verify_event
answers = []
for v in json.load(sys.stdin)["vectors"]:
    try:
        verify_event(v["body"].encode(), v["headers"], v["secret"], v["now"])
        answers.append(True)
    except ValueError:
        answers.append(False)
print(json.dumps(answers))`;
  const python = new Deno.Command("python3", {
    args: ["-c", script],
    stdin: "piped",
    stdout: "piped",
  });
  const child = python.spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify({ vectors })));
  await writer.close();
  const { stdout } = await child.output();
  assert.deepEqual(
    JSON.parse(new TextDecoder().decode(stdout)),
    vectors.map(({ valid }) => valid),
  );
});

Deno.test("a failed verification says which of the things that can go wrong did", () => {
  const { secret, headers, body, now } = vectors[0]!;
  const other = vectors.find(({ name }) => name === "another secret")!.secret;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const cases: [SignatureFault, RegExp, Partial<Vector>][] = [
    ["missing_header", /webhook-id is missing/, { headers: { ...headers, "webhook-id": "" } }],
    ["malformed_header", /Unix seconds/, { headers: { ...headers, "webhook-timestamp": "now" } }],
    ["malformed_header", /"v1,<base64>"/, { headers: { ...headers, "webhook-signature": "x" } }],
    ["malformed_header", /version v1/, { headers: { ...headers, "webhook-signature": "v9,x" } }],
    [
      "malformed_header",
      /32 bytes/,
      { headers: { ...headers, "webhook-signature": `v1,${"ab".repeat(32)}` } },
    ],
    ["malformed_secret", /whsec_/, { secret: "sk-not-this-one" }],
    ["wrong_secret", /another secret/, { secret: other }],
    ["body_changed", /added at its end/, { body: `${body}\r\n` }],
    ["body_changed", /written again as JSON/, { body: JSON.stringify(JSON.parse(body), null, 2) }],
    ["body_changed", /not JSON/, { body: body.slice(0, -1) }],
    ["body_changed", /the headers are of/, { body: body.replace('"evt_', '"evt_0') }],
    ["body_changed", /not written as/, { body: body.replace(/"created":(\d+)/, '"created": 1') }],
    ["timestamp_too_old", /--at 1767225600/, { now: now + 3600 }],
    ["timestamp_in_future", /clock/, { now: now - 3600 }],
  ];
  for (const [fault, message, change] of cases) {
    const vector = { ...vectors[0]!, ...change };
    const captured = { headers: vector.headers, body: bytes(vector.body) };
    const verification = explainSignature(captured, vector.secret, vector.now);
    assert.ok(!verification.ok, fault);
    assert.equal(verification.fault, fault, verification.message);
    assert.match(verification.message, message);
  }
  const good = explainSignature({ headers, body: bytes(body) }, secret, now);
  assert.ok(good.ok);
});

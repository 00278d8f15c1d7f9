import assert from "node:assert/strict";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { BOUNDARY, FORM_TYPE } from "../helpers/form.ts";
import { say } from "../helpers/raw_server.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
/** Deno never ends a read of a body that was answered before its end. */
const LEAKY = { sanitizeOps: false, sanitizeResources: true };
const PACE = { graceMs: 400, bytesPerSecond: 1_000 };

const CHAT = JSON.stringify({ model: "talk", messages: [{ role: "user", content: "Hello" }] });
const JSON_TYPE = "content-type: application/json\r\n";

/** Heads and the first bytes of requests whose rest comes one byte at a time. */
const REQUESTS: Record<string, { path: string; head: string; begin: string; drop: string }> = {
  "a small JSON body": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}content-length: ${CHAT.length}\r\n`,
    begin: CHAT.slice(0, 10),
    drop: "",
  },
  "a large JSON body": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}content-length: 1000000\r\n`,
    begin: CHAT.slice(0, 10),
    drop: "x",
  },
  "a JSON body in chunks": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}transfer-encoding: chunked\r\n`,
    begin: "",
    drop: "1\r\n{\r\n",
  },
  "an upload": {
    path: "/v1/files",
    head: `content-type: ${FORM_TYPE}\r\ncontent-length: 1000000\r\n`,
    begin:
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n\x89PNG\r\n`,
    drop: "x",
  },
  "a form of the site": {
    path: "/sign-in",
    head: `content-type: application/x-www-form-urlencoded\r\ncontent-length: 100000\r\n`,
    begin: "email=a",
    drop: "x",
  },
};

for (const [what, { path, head, begin, drop }] of Object.entries(REQUESTS)) {
  Deno.test(`408 for ${what} that comes byte by byte, and nothing is frozen`, LEAKY, async () => {
    await using gateway = await openChatGateway({ timing: { body: PACE } });
    const { hostname, port } = new URL(gateway.address);
    using connection = await Deno.connect({ hostname, port: Number(port) });
    await say(
      connection,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n${head}\r\n${begin}`,
    );
    let isOver = false;
    const dropping = (async () => {
      while (!isOver && drop !== "") {
        await say(connection, drop).catch(() => isOver = true);
        await new Promise((resume) => setTimeout(resume, 50));
      }
    })();
    const late = setTimeout(() => connection.close(), 6_000);
    const buffer = new Uint8Array(10_000);
    const read = await connection.read(buffer).catch(() => null);
    const answer = new TextDecoder().decode(buffer.subarray(0, read ?? 0));
    clearTimeout(late);
    isOver = true;
    await dropping;
    assert.match(answer, /^HTTP\/1.1 408/);
    assert.deepEqual(await gateway.balance(), { available: "100.00", frozen: "0.00" });
  });
}

Deno.test("a body that comes slowly but fast enough is served", STRICT, async () => {
  await using gateway = await openChatGateway({
    timing: { body: { graceMs: 300, bytesPerSecond: 500 } },
  });
  const bytes = new TextEncoder().encode(CHAT + " ".repeat(1_000));
  const body = ReadableStream.from((async function* () {
    for (let at = 0; at < bytes.length; at += 50) {
      yield bytes.subarray(at, at + 50);
      await new Promise((resume) => setTimeout(resume, 40));
    }
  })());
  const res = await gateway.chat("talk", "", {}, { body });
  assert.equal(res.status, 200, await res.text());
});

import assert from "node:assert/strict";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { say } from "../helpers/raw_server.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "connections with headers that never end are closed, and others are served",
  STRICT,
  async () => {
    await using gateway = await openChatGateway({
      timing: { connections: { headerMs: 600, idleMs: 5_000 } },
    });
    const { hostname, port } = new URL(gateway.address);
    const slow = Array.from({ length: 200 }, async () => {
      using connection = await Deno.connect({ hostname, port: Number(port) });
      await say(connection, "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ");
      const dropping = setInterval(() => void say(connection, "x").catch(() => {}), 100);
      const read = await connection.read(new Uint8Array(100)).catch(() => null);
      clearInterval(dropping);
      return read;
    });
    const res = await gateway.chat("talk", "Hello");
    assert.equal(res.status, 200, await res.text());
    assert.deepEqual(new Set(await Promise.all(slow)), new Set([null]));
  },
);

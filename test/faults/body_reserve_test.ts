import assert from "node:assert/strict";
import { openChatGateway } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { startChatProcess } from "../helpers/chat_process.ts";

const ANNOUNCED = 32 * 1024 * 1024;

Deno.test({
  name: "large bodies that are announced and hardly sent keep no others out",
  ignore: Deno.build.os !== "linux",
  async fn(t) {
    await using store = await freshDatabase();
    await using gateway = await startChatProcess(store.dataDir, store.databaseUrl!);
    const { hostname, port } = new URL(gateway.process.address);
    const victim = await gateway.account("10");
    const slow = await Promise.all(Array.from({ length: 4 }, () => gateway.account("10")));

    const connections: Deno.Conn[] = [];
    for (const { key } of [...slow, ...slow]) {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      connections.push(connection);
      await connection.write(new TextEncoder().encode(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
          `content-type: application/json\r\ncontent-length: ${ANNOUNCED}\r\n\r\n`,
      ));
      await connection.write(new Uint8Array(17 * 1024).fill(32));
    }
    // Each has an account of its own to be looked up before its body is read.
    await new Promise((resume) => setTimeout(resume, 2_000));

    for (const size of [40_000, 3_000_000]) {
      await t.step(`a chat of ${size} bytes is served meanwhile`, async () => {
        const body = JSON.stringify({
          model: "talk",
          messages: [{ role: "user", content: "Hello" }],
        }).padEnd(size);
        const res = await fetch(`${gateway.process.address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${victim.key}`, "content-type": "application/json" },
          body,
        });
        assert.equal(res.status, 200, await res.text());
      });
    }
    for (const connection of connections) connection.close();
  },
});

Deno.test("402 for a large quote of an account without money, before its body has come", async (t) => {
  const config = await Deno.readTextFile(
    new URL("../helpers/chat_config.yaml", import.meta.url),
  );
  // With a free model an account without money may be served.
  await using gateway = await openChatGateway({
    cash: "0",
    config: config.replaceAll('output_price: "0"', 'output_price: "1"'),
  });
  const { hostname, port } = new URL(gateway.address);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(
    `POST /v1/quotes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${ANNOUNCED}\r\n\r\n{`,
  ));
  const late = setTimeout(() => connection.close(), 5_000);
  const buffer = new Uint8Array(10_000);
  const read = await connection.read(buffer).catch(() => null);
  clearTimeout(late);
  assert.match(new TextDecoder().decode(buffer.subarray(0, read ?? 0)), /^HTTP\/1.1 402/);

  const quote = JSON.stringify({
    path: "/v1/chat/completions",
    body: { model: "talk", messages: [{ role: "user", content: "Hello" }] },
  });
  for (const [size, status] of [[200, 200], [300_000, 413]] as const) {
    await t.step(`${status} for one of ${size} bytes without an announced length`, async () => {
      const res = await gateway.fetch("/v1/quotes", {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: new Blob([quote.padEnd(size)]).stream(),
      });
      assert.equal(res.status, status, await res.text());
    });
  }
});

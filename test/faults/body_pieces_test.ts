import assert from "node:assert/strict";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { BOUNDARY, FORM_TYPE } from "../helpers/form.ts";
import { type ChatProcess, startChatProcess } from "../helpers/chat_process.ts";
import { memoryOf } from "../helpers/memory_of.ts";
import { watchHealth } from "../helpers/watch_health.ts";

const GROWTH_MAX_MIB = 150;
const PATIENCE_MS = 60_000;
const encode = (text: string) => new TextEncoder().encode(text);

interface Attack {
  connections: number;
  /** What is sent on each. */
  bytes: Uint8Array;
  /** How its answer is told from what comes before it; answers the status. */
  statusIn(received: Uint8Array): number | null;
}

/** A request over HTTP/1.1 whose body has one byte in each chunk. */
function chunked(
  { path, key, type, begin }: { path: string; key: string; type: string; begin: string },
  pieces: number,
): Pick<Attack, "bytes" | "statusIn"> {
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
    `content-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const first = begin === "" ? "" : `${begin.length.toString(16)}\r\n${begin}\r\n`;
  return {
    bytes: encode(head + first + "1\r\n \r\n".repeat(pieces) + "0\r\n\r\n"),
    statusIn: (received) => {
      const status = /^HTTP\/1.1 (\d+)/.exec(new TextDecoder().decode(received))?.[1];
      return status === undefined ? null : Number(status);
    },
  };
}

function frame(type: number, flags: number, stream: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(9 + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length << 8 | type);
  bytes[4] = flags;
  view.setUint32(5, stream);
  bytes.set(content, 9);
  return bytes;
}

/** A form of the site over HTTP/2 with an announced length and one byte in each frame. */
function framed(address: string, pieces: number): Pick<Attack, "bytes" | "statusIn"> {
  const { host, origin } = new URL(address);
  const fields = {
    ":method": "POST",
    ":scheme": "http",
    ":authority": host,
    ":path": "/sign-in",
    origin,
    "content-type": "application/x-www-form-urlencoded",
    "content-length": String(pieces),
  };
  const literal = (text: string) => [text.length, ...encode(text)];
  const head = Object.entries(fields).flatMap(([name, value]) => [
    0,
    ...literal(name),
    ...literal(value),
  ]);
  const parts = [
    encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(4, 0, 0, new Uint8Array()),
    frame(1, 4, 1, new Uint8Array(head)),
    ...Array.from(
      { length: pieces },
      (_, at) => frame(0, at === pieces - 1 ? 1 : 0, 1, encode("a")),
    ),
  ];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, statusIn: statusInFrames };
}

/** Any answer is an error here: its status is in a compressed head. */
function statusInFrames(received: Uint8Array): number | null {
  for (let at = 0; at + 9 <= received.length;) {
    const view = new DataView(received.buffer, received.byteOffset + at);
    const type = view.getUint8(3);
    if (type === 1) return 400;
    at += 9 + (view.getUint32(0) >> 8);
  }
  return null;
}

/** Sends it and answers the status; 0 when the connection ended without one. */
async function sendRaw(address: string, { bytes, statusIn }: Attack): Promise<number> {
  const { hostname, port } = new URL(address);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const late = setTimeout(() => connection.close(), PATIENCE_MS);
  const sending = (async () => {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  })().catch(() => {});
  const received = new Uint8Array(65_536);
  let length = 0;
  let status: number | null = null;
  while (status === null && length < received.length) {
    const read = await connection.read(received.subarray(length)).catch(() => null);
    if (read === null) break;
    length += read;
    status = statusIn(received.subarray(0, length));
  }
  clearTimeout(late);
  try {
    connection.close();
  } catch {
    // It was too late.
  }
  await sending;
  return status ?? 0;
}

/** Endless for a process that is ending. */
function residentOf(pid: number): number {
  try {
    return memoryOf(pid);
  } catch {
    return Infinity;
  }
}

async function attack({ process }: ChatProcess, options: Attack): Promise<number[]> {
  const before = memoryOf(process.pid);
  let peak = before;
  let hasEnded = false;
  process.ended.then(() => hasEnded = true);
  const watching = setInterval(() => {
    if (!hasEnded) peak = Math.max(peak, residentOf(process.pid));
  }, 10);
  await using health = watchHealth(process);
  const statuses = await Promise.all(
    Array.from({ length: options.connections }, () => sendRaw(process.address, options)),
  );
  const slowest = await health.slowest();
  clearInterval(watching);
  console.log(
    `grew by ${Math.round(peak - before)} MiB, blocked for ${Math.round(slowest)} ms, ${statuses}`,
  );
  assert.ok(peak - before < GROWTH_MAX_MIB, `grew by ${Math.round(peak - before)} MiB`);
  await health.assertLively();
  return statuses;
}

Deno.test({
  name: "bodies in pieces of one byte are refused: memory stays bounded, health is answered",
  ignore: Deno.build.os !== "linux",
  async fn(t) {
    await using store = await freshDatabase();
    await using gateway = await startChatProcess(store.dataDir, store.databaseUrl!);
    const { key } = await gateway.account("10");
    const { address } = gateway.process;
    const small = (pieces: number) =>
      fetch(`${address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: ReadableStream.from(
          encode(
            JSON.stringify({ model: "talk", messages: [{ role: "user", content: "Hello" }] })
              .padEnd(pieces),
          ).values().map((byte) => new Uint8Array([byte])),
        ),
      });
    await (await small(200)).body?.cancel();

    const json = { path: "/v1/chat/completions", key, type: "application/json", begin: "" };
    await t.step("a JSON body", async () => {
      const statuses = await attack(gateway, { connections: 1, ...chunked(json, 500_000) });
      assert.deepEqual(statuses, [400]);
    });
    await t.step("JSON bodies on 20 connections", async () => {
      const statuses = await attack(gateway, { connections: 20, ...chunked(json, 100_000) });
      assert.ok(statuses.every((status) => [0, 400].includes(status)), statuses.join());
    });
    const part = (head: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}`;
    const uploads = {
      "uploads": `${part('name="purpose"')}\r\n\r\ngeneration\r\n` +
        `${part('name="file"; filename="a.wav"')}\r\n\r\nRIFF____WAVEfmt `,
      "uploads with a fault before": `${part('name="nothing"')}\r\n\r\nx\r\n` +
        `${part('name="file"; filename="a.wav"')}\r\n\r\nRIFF____WAVEfmt `,
    };
    for (const [what, begin] of Object.entries(uploads)) {
      await t.step(what, async () => {
        const form = { path: "/v1/files", key, type: FORM_TYPE, begin };
        const statuses = await attack(gateway, { connections: 4, ...chunked(form, 400_000) });
        assert.ok(statuses.every((status) => [0, 400].includes(status)), statuses.join());
      });
    }
    // Few: what the server itself does for each frame is beyond our control.
    await t.step("forms of the site over HTTP/2", async () => {
      const statuses = await attack(gateway, { connections: 4, ...framed(address, 20_000) });
      assert.ok(statuses.every((status) => [0, 400].includes(status)), statuses.join());
    });
    await t.step("a few small pieces are no fault", async () => {
      const res = await small(900);
      assert.equal(res.status, 200, await res.text());
    });
  },
});

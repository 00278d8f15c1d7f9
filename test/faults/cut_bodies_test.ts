import assert from "node:assert/strict";
import { type ChatGateway, type Json, openChatGateway, until } from "../helpers/chat_gateway.ts";
import { BOUNDARY, FORM_TYPE } from "../helpers/form.ts";
import { say } from "../helpers/raw_server.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const CHAT = JSON.stringify({ model: "talk", messages: [{ role: "user", content: "Hello" }] });
const JSON_TYPE = "content-type: application/json\r\n";
const FILE =
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\nPNG\r\n`;

interface Cut {
  readonly path: string;
  readonly head: string;
  readonly begin: string;
}

/** Requests whose client sends the beginning of the body, and goes. */
const CUT: Record<string, Cut> = {
  "a small JSON body": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}content-length: ${CHAT.length}\r\n`,
    begin: CHAT.slice(0, 10),
  },
  "a body of which nothing came": {
    path: "/v1/messages",
    head: `${JSON_TYPE}content-length: ${CHAT.length}\r\n`,
    begin: "",
  },
  "a large JSON body": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}content-length: 1000000\r\n`,
    begin: CHAT,
  },
  "a JSON body in chunks without the last one": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}transfer-encoding: chunked\r\n`,
    begin: `${CHAT.length.toString(16)}\r\n${CHAT}\r\n`,
  },
  "an upload": {
    path: "/v1/files",
    head: `content-type: ${FORM_TYPE}\r\ncontent-length: 1000000\r\n`,
    begin: FILE,
  },
  "an upload in chunks": {
    path: "/v1/files",
    head: `content-type: ${FORM_TYPE}\r\ntransfer-encoding: chunked\r\n`,
    begin: `${FILE.length.toString(16)}\r\n${FILE}\r\n`,
  },
};

async function connectTo(gateway: ChatGateway, { path, head, begin }: Cut): Promise<Deno.Conn> {
  const { hostname, port } = new URL(gateway.address);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const key = `authorization: Bearer ${gateway.key}\r\n`;
  await say(connection, `POST ${path} HTTP/1.1\r\nhost: x\r\n${key}${head}\r\n${begin}`);
  return connection;
}

/** The rows of POSTs in the request log, once there are so many. */
async function posts(gateway: ChatGateway, count: number): Promise<Json[]> {
  let rows: Json[] = [];
  await until("the rows are written", async () => {
    const { data } = await (await gateway.get("/v1/requests?limit=100")).json();
    rows = data.filter(({ method }: Json) => method === "POST");
    return rows.length >= count;
  });
  return rows;
}

for (const [what, cut] of Object.entries(CUT)) {
  Deno.test(`499 for ${what} whose client disconnects, and nothing is kept`, STRICT, async () => {
    await using gateway = await openChatGateway();
    // A client may go at once, or while the gateway waits for the rest.
    for (const afterMs of [0, 100]) {
      const connection = await connectTo(gateway, cut);
      await new Promise((resume) => setTimeout(resume, afterMs));
      connection.close();
    }
    assert.deepEqual(
      (await posts(gateway, 2)).map((
        { status, error_code, charge },
      ) => [status, error_code, charge]),
      Array(2).fill([499, "client_disconnected", "0.00"]),
    );
    assert.match(gateway.logged(), /"status":499,.*"code":"client_disconnected"/);
    const { data } = await (await gateway.get("/v1/files")).json();
    assert.deepEqual(data, []);
    await gateway.verify();
  });
}

/** Whole bodies that are wrong: their length is as announced. */
const WHOLE: Record<string, Cut & { code: string }> = {
  "JSON that ends early": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}content-length: 10\r\n`,
    begin: CHAT.slice(0, 10),
    code: "invalid_json",
  },
  "JSON in chunks that ends early": {
    path: "/v1/chat/completions",
    head: `${JSON_TYPE}transfer-encoding: chunked\r\n`,
    begin: `a\r\n${CHAT.slice(0, 10)}\r\n0\r\n\r\n`,
    code: "invalid_json",
  },
  "a form that ends early": {
    path: "/v1/files",
    head: `content-type: ${FORM_TYPE}\r\ntransfer-encoding: chunked\r\n`,
    begin: `${FILE.length.toString(16)}\r\n${FILE}\r\n0\r\n\r\n`,
    code: "invalid_value",
  },
};

for (const [what, { code, ...cut }] of Object.entries(WHOLE)) {
  Deno.test(`400 for ${what} and arrived as it was announced`, STRICT, async () => {
    await using gateway = await openChatGateway();
    using connection = await connectTo(gateway, cut);
    const rows = await posts(gateway, 1);
    assert.deepEqual(rows.map(({ status, error_code }) => [status, error_code]), [[400, code]]);
    const buffer = new Uint8Array(10_000);
    const read = await connection.read(buffer);
    assert.match(new TextDecoder().decode(buffer.subarray(0, read ?? 0)), /^HTTP\/1\.1 400 /);
  });
}

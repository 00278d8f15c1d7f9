import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { openFileGateway } from "../helpers/file_gateway.ts";
import { field, filePart, form, FORM_TYPE, PURPOSE } from "../helpers/form.ts";
import { joined, mp4Of, png, text, wav } from "../helpers/media.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const padded = (bytes: Uint8Array, length: number) => {
  const whole = new Uint8Array(length);
  whole.set(bytes);
  return whole;
};

test("400, 413 and 415: what is not a good upload is refused and leaves nothing", async () => {
  await using gateway = await openFileGateway();
  const refused = async (what: string, response: Promise<Response>) => {
    const res = await response;
    const { code, param } = await errorOf(res);
    assert.equal(res.headers.has("x-ratelimit-limit"), true, what);
    return [what, res.status, code, param];
  };
  const good = filePart(png());
  const cases: [string, Promise<Response>, number, string, string | null][] = [
    ["no purpose", gateway.sendParts(good), 400, "missing_field", "purpose"],
    ["no file", gateway.sendParts(PURPOSE), 400, "missing_field", "file"],
    ["no parts", gateway.sendParts(), 400, "missing_field", "file"],
    [
      "a file under another name",
      gateway.sendParts({ ...good, head: good.head.replace("file", "image") }),
      400,
      "unknown_field",
      "image",
    ],
    [
      "purpose before",
      gateway.sendParts(field("purpose", "fine-tune"), good),
      400,
      "invalid_value",
      "purpose",
    ],
    [
      "purpose after",
      gateway.sendParts(good, field("purpose", "")),
      400,
      "invalid_value",
      "purpose",
    ],
    ["purpose twice", gateway.sendParts(PURPOSE, good, PURPOSE), 400, "invalid_value", "purpose"],
    [
      "a huge purpose",
      gateway.sendParts(good, field("purpose", "x".repeat(100_000))),
      400,
      "invalid_value",
      "purpose",
    ],
    [
      "an unknown field before",
      gateway.sendParts(field("x", "1"), PURPOSE, good),
      400,
      "unknown_field",
      "x",
    ],
    [
      "an unknown field after",
      gateway.sendParts(PURPOSE, good, field("y", "1")),
      400,
      "unknown_field",
      "y",
    ],
    ["two files", gateway.sendParts(PURPOSE, good, good), 400, "invalid_value", "file"],
    ["an empty file", gateway.sendParts(PURPOSE, filePart("")), 400, "invalid_value", "file"],
    [
      "a form without end",
      gateway.send(form([PURPOSE, good], { end: "" })),
      400,
      "invalid_value",
      null,
    ],
    [
      "a form cut off",
      gateway.send(form([PURPOSE, good]).slice(0, -40)),
      400,
      "invalid_value",
      null,
    ],
    ["nothing", gateway.send(""), 400, "invalid_value", null],
    [
      "no boundary",
      gateway.send(form([PURPOSE, good]), { "content-type": "multipart/form-data" }),
      400,
      "invalid_value",
      null,
    ],
    [
      "JSON",
      gateway.send("{}", { "content-type": "application/json" }),
      415,
      "unsupported_media_type",
      null,
    ],
    [
      "another form",
      gateway.send("file=x", { "content-type": "application/x-www-form-urlencoded" }),
      415,
      "unsupported_media_type",
      null,
    ],
    [
      "another multipart",
      gateway.send(form([PURPOSE, good]), {
        "content-type": FORM_TYPE.replace("form-data", "mixed"),
      }),
      415,
      "unsupported_media_type",
      null,
    ],
    [
      "a page",
      gateway.sendParts(PURPOSE, filePart("<!doctype html><script>alert(1)</script>")),
      415,
      "unsupported_media_type",
      "file",
    ],
    [
      "a drawing that can run",
      gateway.sendParts(PURPOSE, filePart('<svg xmlns="http://www.w3.org/2000/svg"/>')),
      415,
      "unsupported_media_type",
      "file",
    ],
    [
      "a program",
      gateway.sendParts(PURPOSE, filePart(joined([text("\x7fELF"), new Uint8Array(100)]))),
      415,
      "unsupported_media_type",
      "file",
    ],
    [
      "a document",
      gateway.sendParts(PURPOSE, filePart("%PDF-1.7\n" + "x".repeat(99))),
      415,
      "unsupported_media_type",
      "file",
    ],
    [
      "noise",
      gateway.sendParts(
        PURPOSE,
        filePart(crypto.getRandomValues(new Uint8Array(5000)).fill(0xfe, 0, 8)),
      ),
      415,
      "unsupported_media_type",
      "file",
    ],
    [
      "a large image",
      gateway.sendParts(PURPOSE, filePart(padded(png(), 2001))),
      413,
      "payload_too_large",
      "file",
    ],
    [
      "a large audio",
      gateway.sendParts(PURPOSE, filePart(padded(wav(1), 40_001))),
      413,
      "payload_too_large",
      "file",
    ],
    [
      "a large video",
      gateway.sendParts(PURPOSE, filePart(mp4Of(300_001))),
      413,
      "payload_too_large",
      "file",
    ],
    [
      "a form that says it is large",
      gateway.sendParts(PURPOSE, filePart(mp4Of(2_000_000))),
      413,
      "payload_too_large",
      "file",
    ],
    [
      "a large video after its purpose only",
      gateway.sendParts(filePart(mp4Of(300_001)), PURPOSE),
      413,
      "payload_too_large",
      "file",
    ],
  ];
  for (const [what, response, ...expected] of cases) {
    assert.deepEqual(await refused(what, response), [what, ...expected]);
  }
  assert.equal(await gateway.rows(), 0);
  assert.deepEqual(await gateway.stored(), []);
  // At the limit it is still good.
  await gateway.upload(padded(png(), 2000));
  await gateway.upload(mp4Of(300_000));
});

test("an upload without end is refused as soon as it is too large", async () => {
  await using gateway = await openFileGateway();
  let sent = 0;
  let isAnswered = false;
  let pause = Promise.resolve();
  async function* endless() {
    yield form([PURPOSE, filePart(mp4Of(100))], { end: "" }).slice(0, -2);
    while (!isAnswered) {
      sent += 65_536;
      yield new Uint8Array(65_536);
      // The gateway closes the connection after its answer. A piece that is sent then resets it, and this client's
      // system drops an answer that was not read by then: it gets time for that.
      pause = new Promise<void>((resume) => setTimeout(resume, sent > 300_000 ? 1_000 : 10));
      await pause;
    }
  }
  const res = await gateway.send(ReadableStream.from(endless()));
  isAnswered = true;
  await pause;
  assert.deepEqual([res.status, (await errorOf(res)).code], [413, "payload_too_large"]);
  assert.equal(await gateway.rows(), 0);
});

test("an upload whose sender leaves in the middle leaves nothing", async () => {
  await using gateway = await openFileGateway();
  const { port } = new URL(gateway.address);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const body = form([PURPOSE, filePart(mp4Of(200_000))]);
  await connection.write(text(
    `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
      `content-type: ${FORM_TYPE}\r\ncontent-length: ${body.length}\r\n\r\n`,
  ));
  for (let at = 0; at < 100_000;) at += await connection.write(body.subarray(at, 100_000));
  await until("its row is there", async () => await gateway.rows() === 1);
  const list = await (await gateway.get("/v1/files")).json();
  assert.deepEqual(list.data, [], "it is not listed before it is complete");
  connection.close();
  await until(
    "nothing is left",
    async () => await gateway.rows() === 0 && (await gateway.stored()).length === 0,
  );
});

test("401, 404, 405 and 429 as everywhere, and another account's file is 404", async () => {
  await using gateway = await openFileGateway();
  const file = await gateway.upload(png());
  const stranger = await gateway.newKey({ name: "stranger" });
  const authorization = `Bearer ${stranger.key}`;
  for (
    const path of [
      `/v1/files/${file.id}`,
      `/v1/files/${file.id}/content`,
      "/v1/files/file_0",
      "/v1/files/%00",
    ]
  ) {
    const res = await gateway.get(path, { authorization });
    assert.deepEqual([res.status, (await errorOf(res)).code], [404, "file_not_found"], path);
  }
  const deleting = await gateway.fetch(`/v1/files/${file.id}`, {
    method: "DELETE",
    headers: { authorization },
  });
  assert.deepEqual([deleting.status, (await errorOf(deleting)).code], [404, "file_not_found"]);
  const list = await (await gateway.get("/v1/files", { authorization })).json();
  assert.deepEqual(list.data, []);

  const keyless = await gateway.fetch("/v1/files", {
    method: "POST",
    body: form([PURPOSE, filePart(png())]),
  });
  assert.deepEqual([keyless.status, (await errorOf(keyless)).code], [401, "missing_api_key"]);
  const misused = await gateway.fetch(`/v1/files/${file.id}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  assert.deepEqual([misused.status, misused.headers.get("allow")], [405, "GET, DELETE, HEAD"]);
  await misused.body?.cancel();

  const slow = await gateway.newKey({ name: "slow", plan: "slow" });
  const statuses = [];
  for (let i = 0; i < 4; i++) {
    const res = await gateway.get("/v1/files", { authorization: `Bearer ${slow.key}` });
    statuses.push(res.status);
    if (res.status === 429) assert.ok(Number(res.headers.get("retry-after")) >= 1);
    await res.body?.cancel();
  }
  assert.deepEqual(statuses, [200, 200, 200, 429]);
});

test("503 storage_unavailable when the folder cannot be written, and nothing is left", async () => {
  await using gateway = await openFileGateway();
  const folder = `${gateway.store.dataDir}/files`;
  await Deno.rename(folder, `${folder}.aside`);
  await Deno.writeTextFile(folder, "in the way");
  const res = await gateway.sendParts(PURPOSE, filePart(png()));
  assert.equal(res.status, 503);
  assert.ok(Number(res.headers.get("retry-after")) > 0);
  const { code, message } = await errorOf(res);
  assert.equal(code, "storage_unavailable");
  assert.ok(!message.includes(gateway.store.dataDir));
  await Deno.remove(folder);
  await Deno.rename(`${folder}.aside`, folder);
  await gateway.upload(png());
  assert.equal(await gateway.gateway.files.clean(), 0);
});

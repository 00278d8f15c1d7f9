import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import OpenAI from "openai";
import { until } from "../helpers/chat_gateway.ts";
import { openFileGateway, SMALL_LIMITS } from "../helpers/file_gateway.ts";
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

test("POST /v1/files answers 200 with the file, whatever the order of its parts", async () => {
  await using gateway = await openFileGateway();
  for (const parts of [[PURPOSE, filePart(png())], [filePart(png()), PURPOSE]]) {
    const res = await gateway.sendParts(...parts);
    const file = await res.json();
    assert.equal(res.status, 200, JSON.stringify(file));
    const { id, created, expires_at, ...rest } = file;
    assert.match(id, /^file_[0-9a-z]{26}$/);
    assert.deepEqual(rest, {
      file_id: id,
      object: "file",
      purpose: "generation",
      filename: "picture.png",
      mime_type: "image/png",
      bytes: png().length,
    });
    assert.ok(Math.abs(created - Date.now() / 1000) < 60);
    assert.ok(Math.abs(Date.parse(expires_at) / 1000 - created - 30 * 86_400) < 5);
    assert.deepEqual(await (await gateway.get(`/v1/files/${id}`)).json(), file);
    const content = await gateway.get(`/v1/files/${id}/content`);
    assert.deepEqual(await content.bytes(), png());
  }
  assert.equal((await gateway.stored()).length, 2);
});

test("what a file is, is judged by its content, and what can be told of it is kept", async () => {
  await using gateway = await openFileGateway();
  const looked = async (bytes: Uint8Array, name: string) => {
    const { id, mime_type } = await gateway.upload(bytes, name);
    const file = await gateway.gateway.files.find(gateway.account, id);
    const { kind, width, height, durationMs, sha256 } = file!;
    assert.equal(sha256, createHash("sha256").update(bytes).digest("hex"));
    return { mime_type, kind, width, height, durationMs };
  };
  assert.deepEqual(await looked(png(7, 5), "song.mp3"), {
    mime_type: "image/png",
    kind: "image",
    width: 7,
    height: 5,
    durationMs: null,
  });
  assert.deepEqual(await looked(wav(2), "picture.png"), {
    mime_type: "audio/wav",
    kind: "audio",
    width: null,
    height: null,
    durationMs: 2000,
  });
  // Begins as a film and cannot be measured: it is stored all the same.
  assert.deepEqual(await looked(mp4Of(9000), "x.html"), {
    mime_type: "video/mp4",
    kind: "video",
    width: null,
    height: null,
    durationMs: null,
  });
});

test("names lose paths and everything invisible, and keep their script", async () => {
  await using gateway = await openFileGateway();
  const named = async (name: string) => (await gateway.upload(png(), name)).filename;
  assert.equal(await named("../../etc/passwd"), "passwd");
  assert.equal(await named("C:\\\\photos\\\\me.png"), "me.png");
  assert.equal(await named("日本 ünï.png"), "日本 ünï.png");
  assert.equal(await named("a\u202egnp.exe"), "agnp.exe");
  assert.equal(await named("a\u0000b.png"), "ab.png");
  assert.equal(await named("..."), "file.png");
  assert.equal(await named(""), "file.png");
  assert.equal(await named("x".repeat(300) + ".png"), "x".repeat(235) + "x".repeat(16) + ".png");
});

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
      gateway.sendParts({ ...good, head: good.head.replace("file", "picture") }),
      400,
      "unknown_field",
      "picture",
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
      "a large sound",
      gateway.sendParts(PURPOSE, filePart(padded(wav(1), 40_001))),
      413,
      "payload_too_large",
      "file",
    ],
    [
      "a large film",
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
      "a large film after its purpose only",
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
  async function* endless() {
    yield form([PURPOSE, filePart(mp4Of(100))], { end: "" }).slice(0, -2);
    while (!isAnswered) {
      sent += 65_536;
      yield new Uint8Array(65_536);
      await new Promise((resume) => setTimeout(resume, 1));
    }
  }
  const res = await gateway.send(ReadableStream.from(endless()));
  isAnswered = true;
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
  assert.deepEqual(list.data, [], "nobody sees it before it is complete");
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

test("GET /v1/files pages both ways and by purpose, and knows its own parameters", async () => {
  await using gateway = await openFileGateway();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await gateway.upload(png())).id);
  const output = await gateway.gateway.files.storeOutput(gateway.account, {
    taskId: "task_1",
    body: png(),
    kind: "image",
  });
  const page = async (query: string) => await (await gateway.get(`/v1/files?${query}`)).json();
  const first = await page("limit=4");
  assert.deepEqual(first.data.map(({ id }: { id: string }) => id), [
    output.id,
    ids[4],
    ids[3],
    ids[2],
  ]);
  assert.deepEqual([first.object, first.has_more, first.first_id, first.last_id], [
    "list",
    true,
    output.id,
    ids[2],
  ]);
  const second = await page(`limit=4&after=${first.last_id}`);
  assert.deepEqual([second.data.length, second.has_more], [2, false]);
  const ascending = await page(`order=asc&limit=2&after=${ids[0]}&purpose=generation`);
  assert.deepEqual(ascending.data.map(({ id }: { id: string }) => id), [ids[1], ids[2]]);
  const outputs = await page("purpose=output");
  assert.deepEqual(outputs.data.map(({ purpose }: { purpose: string }) => purpose), ["output"]);
  for (
    const [query, param] of [["limit=0", "limit"], ["order=up", "order"], ["after=x", "after"], [
      "after=acc_1",
      "after",
    ], ["purpose=x", "purpose"]]
  ) {
    const res = await gateway.get(`/v1/files?${query}`);
    assert.deepEqual([res.status, (await errorOf(res)).param], [400, param]);
  }
});

test("DELETE /v1/files/{id} ends a file at once, and its bytes follow", async () => {
  await using gateway = await openFileGateway();
  const { id } = await gateway.upload(png());
  const res = await gateway.delete(`/v1/files/${id}`);
  assert.deepEqual(await res.json(), { id, object: "file", deleted: true });
  for (const path of [`/v1/files/${id}`, `/v1/files/${id}/content`]) {
    const gone = await gateway.get(path);
    assert.deepEqual([gone.status, (await errorOf(gone)).code], [404, "file_not_found"]);
  }
  const again = await gateway.delete(`/v1/files/${id}`);
  assert.deepEqual([again.status, (await errorOf(again)).code], [404, "file_not_found"]);
  assert.equal((await gateway.stored()).length, 1);
  assert.equal(await gateway.gateway.files.clean(), 1);
  assert.deepEqual([await gateway.rows(), await gateway.stored()], [0, []]);
});

test("503 storage_unavailable when the folder cannot be written, and nothing is left", async () => {
  await using gateway = await openFileGateway();
  await Deno.writeTextFile(`${gateway.store.dataDir}/files`, "in the way");
  const res = await gateway.sendParts(PURPOSE, filePart(png()));
  assert.equal(res.status, 503);
  assert.ok(Number(res.headers.get("retry-after")) > 0);
  const { code, message } = await errorOf(res);
  assert.equal(code, "storage_unavailable");
  assert.ok(!message.includes(gateway.store.dataDir));
  await Deno.remove(`${gateway.store.dataDir}/files`);
  await gateway.upload(png());
  assert.equal(await gateway.gateway.files.clean(), 0);
});

test("50 uploads at once of the same bytes are 50 files", async () => {
  await using gateway = await openFileGateway();
  const files = await Promise.all(Array.from({ length: 50 }, () => gateway.upload(mp4Of(100_000))));
  assert.equal(new Set(files.map(({ id }) => id)).size, 50);
  assert.equal((await gateway.stored()).length, 50);
});

test("an upload that runs when the gateway is told to stop is finished first", async () => {
  const gateway = await openFileGateway();
  let response: Promise<Response>;
  const { promise: stopped, resolve: go } = Promise.withResolvers<void>();
  try {
    const body = form([PURPOSE, filePart(mp4Of(200_000))]);
    response = gateway.send(ReadableStream.from((async function* () {
      yield body.slice(0, 100_000);
      await stopped;
      yield body.slice(100_000);
    })()));
    await until("its row is there", async () => await gateway.rows() === 1);
    gateway.gateway.drain();
    const late = await gateway.get("/v1/files");
    assert.deepEqual([late.status, (await errorOf(late)).code], [503, "shutting_down"]);
  } finally {
    const closing = gateway[Symbol.asyncDispose]();
    go();
    await closing;
  }
  const res = await response;
  assert.equal(res.status, 200);
  assert.equal((await res.json()).bytes, 200_000);
});

test("outputs are held to the kind their model makes, and raw samples to the word of the upstream", async () => {
  await using gateway = await openFileGateway({
    storage: SMALL_LIMITS.replace(" }\n", ", outputs: { keep_days: 3 } }\n"),
  });
  const { files } = gateway.gateway;
  const task = { taskId: "task_1" };
  const film = await files.storeOutput(gateway.account, {
    ...task,
    body: mp4Of(400_000),
    kind: "video",
    name: "clip",
  });
  assert.deepEqual([film.filename, film.bytes, film.taskId, film.origin], [
    "clip.mp4",
    400_000,
    "task_1",
    "output",
  ]);
  assert.ok(Math.abs(film.expiresAt.getTime() - Date.now() - 3 * 86_400_000) < 60_000);
  async function* pieces() {
    for (const byte of png()) {
      await Promise.resolve();
      yield Uint8Array.of(byte);
    }
  }
  const picture = await files.storeOutput(gateway.account, {
    ...task,
    body: pieces(),
    kind: "image",
  });
  assert.deepEqual([picture.width, picture.height, picture.bytes], [3, 2, png().length]);
  const raw = new Uint8Array(1000).fill(1);
  const samples = await files.storeOutput(gateway.account, {
    ...task,
    body: raw,
    kind: "audio",
    mimeType: "audio/pcm",
  });
  assert.equal(samples.mimeType, "audio/pcm");
  const stored = (await gateway.stored()).length;
  await assert.rejects(
    files.storeOutput(gateway.account, { ...task, body: png(), kind: "video" }),
    { name: "BadOutput" },
  );
  await assert.rejects(files.storeOutput(gateway.account, { ...task, body: raw, kind: "audio" }), {
    name: "BadOutput",
  });
  await assert.rejects(
    files.storeOutput(gateway.account, { ...task, body: new Uint8Array(), kind: "image" }),
    { name: "BadOutput" },
  );
  async function* broken() {
    yield await Promise.resolve(mp4Of(10_000));
    throw new Error("the upstream is gone");
  }
  await assert.rejects(
    files.storeOutput(gateway.account, { ...task, body: broken(), kind: "video" }),
    /upstream is gone/,
  );
  assert.equal((await gateway.stored()).length, stored);
  const input = await files.openInput(gateway.account, picture.id, 1000);
  assert.deepEqual(input.bytes, png());
  await assert.rejects(files.openInput(gateway.account, picture.id, 10), {
    code: "payload_too_large",
  });
  await assert.rejects(files.openInput("acc_0", picture.id, 1000), {
    code: "file_not_found",
    status: 400,
  });
});

test("OpenAI's own client uploads, lists, reads and deletes", async () => {
  await using gateway = await openFileGateway();
  const client = new OpenAI({
    baseURL: `${gateway.address}/v1`,
    apiKey: gateway.key,
    maxRetries: 0,
  });
  const file = await client.files.create({
    file: new File([png()], "mine.png"),
    purpose: "generation" as never,
  });
  assert.equal(file.filename, "mine.png");
  const listed: string[] = [];
  for await (const { id } of client.files.list()) listed.push(id);
  assert.deepEqual(listed, [file.id]);
  assert.equal((await client.files.retrieve(file.id)).bytes, png().length);
  assert.deepEqual(await (await client.files.content(file.id)).bytes(), png());
  assert.equal((await client.files.delete(file.id)).deleted, true);
  await assert.rejects(client.files.retrieve(file.id), { status: 404, code: "file_not_found" });
});

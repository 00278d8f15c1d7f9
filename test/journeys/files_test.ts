import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import OpenAI from "openai";
import { until } from "../helpers/chat_gateway.ts";
import { openFileGateway, SMALL_LIMITS } from "../helpers/file_gateway.ts";
import { filePart, form, PURPOSE } from "../helpers/form.ts";
import { mp4Of, png, wav } from "../helpers/media.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

test("POST /v1/files answers 200 with the file, whatever the order of its parts", async () => {
  await using gateway = await openFileGateway();
  for (const parts of [[PURPOSE, filePart(png())], [filePart(png()), PURPOSE]]) {
    const res = await gateway.sendParts(...parts);
    const file = await res.json();
    assert.equal(res.status, 200, JSON.stringify(file));
    const { id, created, created_at, expires_at, ...rest } = file;
    assert.match(id, /^file_[0-9a-z]{26}$/);
    assert.deepEqual(rest, {
      file_id: id,
      object: "file",
      purpose: "generation",
      filename: "image.png",
      mime_type: "image/png",
      bytes: png().length,
      status: "processed",
    });
    assert.equal(created_at, created);
    assert.ok(Math.abs(created - Date.now() / 1000) < 60);
    assert.ok(Math.abs(Date.parse(expires_at) / 1000 - created - 30 * 86_400) < 5);
    assert.deepEqual(await (await gateway.get(`/v1/files/${id}`)).json(), file);
    const content = await gateway.get(`/v1/files/${id}/content`);
    assert.deepEqual(await content.bytes(), png());
  }
  assert.equal((await gateway.stored()).length, 2);
});

test("the type of a file is decided by its content, and its measures are stored", async () => {
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
  assert.deepEqual(await looked(wav(2), "image.png"), {
    mime_type: "audio/wav",
    kind: "audio",
    width: null,
    height: null,
    durationMs: 2000,
  });
  // Begins as a video and cannot be measured: it is stored all the same.
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
  const video = await files.storeOutput(gateway.account, {
    ...task,
    body: mp4Of(400_000),
    kind: "video",
    name: "video",
  });
  assert.deepEqual([video.filename, video.bytes, video.taskId, video.origin], [
    "video.mp4",
    400_000,
    "task_1",
    "output",
  ]);
  assert.ok(Math.abs(video.expiresAt.getTime() - Date.now() - 3 * 86_400_000) < 60_000);
  async function* pieces() {
    for (const byte of png()) {
      await Promise.resolve();
      yield Uint8Array.of(byte);
    }
  }
  const image = await files.storeOutput(gateway.account, {
    ...task,
    body: pieces(),
    kind: "image",
  });
  assert.deepEqual([image.width, image.height, image.bytes], [3, 2, png().length]);
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
  const input = await files.openInput(gateway.account, image.id, 1000);
  assert.deepEqual(input.bytes, png());
  await assert.rejects(files.openInput(gateway.account, image.id, 10), {
    code: "payload_too_large",
  });
  await assert.rejects(files.openInput("acc_0", image.id, 1000), {
    code: "file_not_found",
    kind: "invalid_request",
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

import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { filesIn, openFileGateway } from "../helpers/file_gateway.ts";
import { filePart, form, PURPOSE } from "../helpers/form.ts";
import { mp4Of, png } from "../helpers/media.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { startS3 } from "../helpers/s3_server.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

test("files in a bucket: small and large, in parts, by range, deleted, and nothing of a bad one is left", async () => {
  await using s3 = await startS3();
  await using gateway = await openFileGateway(s3);
  const small = await gateway.upload(png());
  const content = await gateway.get(`/v1/files/${small.id}/content`);
  assert.deepEqual(await content.bytes(), png());
  const signed = await fetch(gateway.gateway.files.signedUrl(small.id, Date.now()).url);
  assert.deepEqual(await signed.bytes(), png());

  // More than two parts, the last one short.
  const video = mp4Of(20_000_000);
  video[9_000_000] = 7;
  const large = await gateway.upload(video);
  assert.equal(large.bytes, video.length);
  const whole = await gateway.get(`/v1/files/${large.id}/content`);
  assert.ok(Buffer.compare(await whole.bytes(), video) === 0);
  const part = await gateway.get(`/v1/files/${large.id}/content`, {
    range: "bytes=8999999-9000001",
  });
  assert.equal(part.status, 206);
  assert.deepEqual(await part.bytes(), Uint8Array.of(0, 7, 0));
  assert.deepEqual(await gateway.stored(), [], "nothing on the disk");

  const objects = async () => (await filesIn(s3.folder)).filter((path) => path.includes("/gate/"));
  const before = (await objects()).length;
  for (const bytes of [mp4Of(20_000_000), png()]) {
    const res = await gateway.send(form([filePart(bytes)]));
    assert.deepEqual([res.status, (await errorOf(res)).code], [400, "missing_field"]);
  }
  assert.equal((await objects()).length, before);
  for (const { id } of [small, large]) {
    await (await gateway.delete(`/v1/files/${id}`)).body?.cancel();
  }
  assert.equal(await gateway.gateway.files.clean(), 2);
  assert.deepEqual(await objects(), []);
});

test("a gateway that moves to a bucket goes on reading what lies in its folder", async () => {
  await using s3 = await startS3();
  await using gateway = await openFileGateway({
    storage: s3.storage.replace("files: s3", "files: local"),
    environment: s3.environment,
  });
  const old = await gateway.upload(png(4, 4));
  const config = await Deno.readTextFile(gateway.configFile);
  await Deno.writeTextFile(
    gateway.configFile,
    config.replace("files: local", "files: s3"),
  );
  const reloaded = await gateway.admin("POST", "/config/reload");
  assert.equal(reloaded.status, 200, await reloaded.text());
  const young = await gateway.upload(png(5, 5));
  assert.equal((await gateway.stored()).length, 1);
  for (const [{ id }, bytes] of [[old, png(4, 4)], [young, png(5, 5)]] as const) {
    const res = await gateway.get(`/v1/files/${id}/content`);
    assert.deepEqual(await res.bytes(), bytes);
  }
});

test("503 storage_unavailable when the bucket refuses us, without its address or words", async () => {
  await using s3 = await startS3();
  await using gateway = await openFileGateway({
    storage: s3.storage,
    environment: { ...s3.environment, S3_KEY: "unknown-key" },
  });
  const res = await gateway.sendParts(PURPOSE, filePart(png()));
  const text = await res.clone().text();
  assert.deepEqual([res.status, (await errorOf(res)).code], [503, "storage_unavailable"]);
  assert.ok(Number(res.headers.get("retry-after")) > 0);
  for (const trace of ["127.0.0.1", "our-files", "unknown-key", "S3"]) {
    assert.ok(!text.includes(trace));
  }
});

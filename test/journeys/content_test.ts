import assert from "node:assert/strict";
import { openFileGateway } from "../helpers/file_gateway.ts";
import { mp4Of, png } from "../helpers/media.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

/** A video in which every byte says where it stands. */
function numbered(bytes: number): Uint8Array<ArrayBuffer> {
  const video = mp4Of(bytes);
  for (let at = 32; at < bytes; at++) video[at] = at % 251;
  return video;
}

test("content is sent inert: its own type, no guessing, no script, its name in any language", async () => {
  await using gateway = await openFileGateway();
  const { id } = await gateway.upload(png(), "Bücher %22neu%22.png");
  const res = await gateway.get(`/v1/files/${id}/content`);
  assert.equal(res.status, 200);
  assert.deepEqual(await res.bytes(), png());
  const headers = Object.fromEntries(res.headers);
  assert.equal(headers["content-type"], "image/png");
  assert.equal(headers["content-length"], String(png().length));
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.match(headers["content-security-policy"]!, /^sandbox; default-src 'none';/);
  assert.match(headers["cache-control"]!, /^private/);
  assert.equal(headers["accept-ranges"], "bytes");
  assert.match(headers.etag!, /^"[0-9a-f]{64}"$/);
  assert.equal(
    headers["content-disposition"],
    `inline; filename="B_cher _neu_.png"; filename*=UTF-8''B%C3%BCcher%20%22neu%22.png`,
  );
  assert.equal(headers["access-control-allow-origin"], undefined);
});

test("200, 206 and 416: ranges as RFC 9110 has them", async () => {
  await using gateway = await openFileGateway();
  const bytes = numbered(200_000);
  const { id } = await gateway.upload(bytes);
  const last = bytes.length - 1;
  const ranges: [string, number, [number, number] | null][] = [
    ["bytes=0-0", 206, [0, 0]],
    ["bytes=0-", 206, [0, last]],
    ["bytes=100000-100099", 206, [100_000, 100_099]],
    [`bytes=${last}-`, 206, [last, last]],
    ["bytes=-1", 206, [last, last]],
    ["bytes=-70000", 206, [bytes.length - 70_000, last]],
    ["bytes=-999999999", 206, [0, last]],
    ["bytes=10-999999999", 206, [10, last]],
    ["BYTES=5-6", 206, [5, 6]],
    ["bytes=200000-", 416, null],
    ["bytes=999999999999999-", 416, null],
    ["bytes=-0", 416, null],
    ["bytes=6-5", 200, null],
    ["bytes=a-b", 200, null],
    ["bytes=-", 200, null],
    ["bytes=0-1,5-6", 200, null],
    ["lines=0-1", 200, null],
    ["bytes=0-1e3", 200, null],
  ];
  for (const [range, status, part] of ranges) {
    const res = await gateway.get(`/v1/files/${id}/content`, { range });
    const got = await res.bytes();
    assert.equal(res.status, status, range);
    if (part !== null) {
      const [first, final] = part;
      assert.equal(res.headers.get("content-range"), `bytes ${first}-${final}/${bytes.length}`);
      assert.deepEqual(got, bytes.slice(first, final + 1), range);
    } else if (status === 416) {
      assert.equal(res.headers.get("content-range"), `bytes */${bytes.length}`);
      assert.equal(got.length, 0);
    } else assert.deepEqual(got, bytes, range);
  }
});

test("If-Range, If-None-Match and HEAD", async () => {
  await using gateway = await openFileGateway();
  const { id } = await gateway.upload(png());
  const path = `/v1/files/${id}/content`;
  const head = await gateway.fetch(path, {
    method: "HEAD",
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  assert.deepEqual(
    [head.status, head.headers.get("content-length"), (await head.bytes()).length],
    [200, String(png().length), 0],
  );
  const etag = head.headers.get("etag")!;
  const status = async (headers: Record<string, string>) => {
    const res = await gateway.get(path, headers);
    await res.bytes();
    return res.status;
  };
  assert.equal(await status({ range: "bytes=0-1", "if-range": etag }), 206);
  assert.equal(await status({ range: "bytes=0-1", "if-range": '"other"' }), 200);
  assert.equal(await status({ range: "bytes=0-1", "if-range": new Date().toUTCString() }), 200);
  assert.equal(await status({ "if-none-match": etag }), 304);
  assert.equal(await status({ "if-none-match": `"x", W/${etag}` }), 304);
  assert.equal(await status({ "if-none-match": "*" }), 304);
  assert.equal(await status({ "if-none-match": '"other"' }), 200);
});

test("a reader that leaves in the middle of a video closes it", async () => {
  await using gateway = await openFileGateway();
  const { id } = await gateway.upload(numbered(300_000));
  for (const headers of [{}, { range: "bytes=10-290000" }] as Record<string, string>[]) {
    const res = await gateway.get(`/v1/files/${id}/content`, headers);
    const reader = res.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    assert.ok(value!.length > 0 && value!.length < 280_000, "it left in the middle");
  }
});

test("a signed address works without a key until it ends, for its own file only", async () => {
  await using gateway = await openFileGateway({
    storage: "storage: { outputs: { url_hours: 2 } }\n",
  });
  const { files } = gateway.gateway;
  const [mine, other] = [await gateway.upload(png()), await gateway.upload(png(9, 9))];
  const now = Date.now();
  const { url, expiresAt } = files.signedUrl(mine.id, now);
  assert.ok(url.startsWith(`${gateway.address}/content/${mine.id}?`));
  assert.ok(Math.abs(expiresAt.getTime() - now - 2 * 3_600_000) <= 1000);
  const res = await fetch(url);
  assert.equal(res.status, 200);
  assert.deepEqual(await res.bytes(), png());
  assert.match(res.headers.get("x-request-id")!, /^req_/);
  const part = await fetch(url, { headers: { range: "bytes=1-3" } });
  assert.deepEqual([part.status, await part.text()], [206, "PNG"]);
  const head = await fetch(url, { method: "HEAD" });
  assert.equal(head.status, 200);
  await head.body?.cancel();

  const late = new URL(url);
  late.searchParams.set("expires", String(Number(late.searchParams.get("expires")) + 1));
  const forged = new URL(url);
  forged.searchParams.set("signature", `${forged.searchParams.get("signature")!.slice(0, -2)}AA`);
  const unknown = new URL(url);
  unknown.searchParams.set(
    "signature",
    unknown.searchParams.get("signature")!.replace(/^\d+/, "99"),
  );
  const bad = [
    late.href,
    forged.href,
    unknown.href,
    url.replace(mine.id, other.id),
    files.signedUrl(mine.id, now - 3 * 3_600_000).url,
    files.signedUrl("file_00000000000000000000000000", now).url,
    url.split("?")[0]!,
    `${url.split("?")[0]}?expires=1&signature=1`,
    `${gateway.address}/content/%00?expires=9999999999&signature=1-x`,
  ];
  for (const address of bad) {
    const refused = await fetch(address);
    assert.deepEqual(
      [refused.status, (await errorOf(refused)).code],
      [404, "file_not_found"],
      address,
    );
  }
  const posted = await fetch(url, { method: "POST" });
  assert.deepEqual([posted.status, (await errorOf(posted)).code], [405, "method_not_allowed"]);
  await (await gateway.delete(`/v1/files/${mine.id}`)).body?.cancel();
  const deleted = await fetch(url);
  assert.deepEqual([deleted.status, (await errorOf(deleted)).code], [404, "file_not_found"]);
  assert.ok(!gateway.logged().includes(new URL(url).searchParams.get("signature")!));
});

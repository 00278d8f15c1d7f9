import assert from "node:assert/strict";
import { openFileGateway, SMALL_LIMITS } from "../helpers/file_gateway.ts";
import { field, filePart, form, FORM_TYPE, PURPOSE } from "../helpers/form.ts";
import { png } from "../helpers/media.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const options = { sanitizeOps: true, sanitizeResources: true };
const SPACE = 6_500;
const IMAGE = new Uint8Array(1_900);
IMAGE.set(png());

/** Accounts have room for three images; those on `pro` for many. */
async function open() {
  const text = await Deno.readTextFile(new URL("../helpers/config.yaml", import.meta.url));
  return await openFileGateway({
    config: SMALL_LIMITS +
      text.replace(
        "requests_per_minute: 1000 }",
        `requests_per_minute: 1000, storage_bytes: ${SPACE} }`,
      )
        .replace("{ price_book: pro }", "{ price_book: pro, limits: { storage_bytes: 1000000 } }"),
  });
}

Deno.test(
  "POST /v1/files answers 413 when an account's room is taken, and stores nothing",
  options,
  async () => {
    await using gateway = await open();
    const first = await gateway.upload(IMAGE);
    await gateway.upload(IMAGE);
    await gateway.upload(IMAGE);
    const res = await gateway.sendParts(PURPOSE, filePart(IMAGE));
    assert.equal(res.status, 413);
    assert.deepEqual(await errorOf(res), {
      message:
        "There is no room for the file: uploads of this account may take 6500 bytes, and 5700 are " +
        "taken. Delete files with DELETE /v1/files/{file_id}, or change plan.",
      type: "invalid_request_error",
      param: "file",
      code: "storage_limit_exceeded",
    });
    assert.deepEqual([await gateway.rows(), (await gateway.stored()).length], [3, 3]);
    const deleted = await gateway.delete(`/v1/files/${first.id}`);
    assert.equal(deleted.status, 200, await deleted.text());
    await gateway.upload(IMAGE);
  },
);

Deno.test("the room is each account's own, and as large as its plan says", options, async () => {
  await using gateway = await open();
  for (let n = 0; n < 3; n++) await gateway.upload(IMAGE);
  const other = await gateway.newKey({ name: "other" });
  await gateway.upload(IMAGE, "a.png", other.key);
  const pro = await gateway.newKey({ name: "pro", plan: "pro" });
  for (let n = 0; n < 5; n++) await gateway.upload(IMAGE, "a.png", pro.key);
  assert.equal(await gateway.rows(), 3 + 1 + 5);
});

Deno.test("uploads at the same moment do not all find the last room", options, async () => {
  await using gateway = await open();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => gateway.sendParts(PURPOSE, filePart(IMAGE))),
  );
  const taken = answers.filter(({ status }) => status === 200).length;
  for (const answer of answers) {
    const body = await answer.json();
    if (answer.status !== 200) assert.equal(body.error.code, "storage_limit_exceeded");
  }
  assert.ok(taken >= 2 && taken <= 3, String(taken));
  assert.equal((await gateway.stored()).length, taken);
});

Deno.test("an upload that comes to nothing gives its room back", options, async () => {
  await using gateway = await open();
  await gateway.upload(IMAGE);
  await gateway.upload(IMAGE);
  for (let n = 0; n < 3; n++) {
    const res = await gateway.sendParts(filePart(IMAGE), field("purpose", "fun"));
    assert.equal((await errorOf(res)).param, "purpose");
  }
  await gateway.upload(IMAGE);
});

Deno.test("an upload of unknown length needs room for the most it may have", options, async () => {
  await using gateway = await open();
  const unannounced = async () => {
    const body = ReadableStream.from([
      await new Response(form([PURPOSE, filePart(IMAGE)])).bytes(),
    ]);
    const res = await gateway.send(body, { "content-type": FORM_TYPE });
    await res.body?.cancel();
    return res.status;
  };
  // An image may have 2000 bytes here.
  assert.deepEqual([await unannounced(), await unannounced(), await unannounced()], [
    200,
    200,
    200,
  ]);
  assert.equal(await unannounced(), 413);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { imageSizeOf } from "./image_header.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));

Deno.test("the size of an image stands in its first bytes", () => {
  const png = "89504e470d0a1a0a 0000000d 49484452 00000280 000001e0 0806000000";
  assert.deepEqual(imageSizeOf(bytes(png)), { width: 640, height: 480 });
  assert.deepEqual(imageSizeOf(bytes("474946383961 8002 e001 f70000")), {
    width: 640,
    height: 480,
  });
  const jpeg =
    "ffd8 ffe0 0010 4a46494600010100000100010000 ffc0 0011 08 01e0 0280 03 012200 021101";
  assert.deepEqual(imageSizeOf(bytes(jpeg)), { width: 640, height: 480 });
  const lossy = "52494646 24000000 57454250 56503820 18000000 300100 9d012a 8002 e001 0000";
  assert.deepEqual(imageSizeOf(bytes(lossy)), { width: 640, height: 480 });
  const extended = "52494646 24000000 57454250 56503858 0a000000 10000000 7f0200 df0100 00";
  assert.deepEqual(imageSizeOf(bytes(extended)), { width: 640, height: 480 });
  // 14 bits each, less one: 639 | 479 << 14.
  const lossless = "52494646 24000000 57454250 5650384c 0a000000 2f 7fc27700 0000000000";
  assert.deepEqual(imageSizeOf(bytes(lossless)), { width: 640, height: 480 });
});

Deno.test("bytes that are no image, or only the beginning of one, have no size and cost little", () => {
  assert.equal(imageSizeOf(bytes("ffd8 ffe0 0000")), null);
  assert.equal(imageSizeOf(new Uint8Array(300_000).fill(0xff)), null);
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom("", "ffd8", "89504e470d0a1a0a0000000d49484452", "474946383961", "52494646"),
      (rest, head) => {
        const size = imageSizeOf(new Uint8Array([...bytes(head), ...rest]));
        assert.ok(size === null || (size.width > 0 && size.height > 0));
      },
    ),
  );
});

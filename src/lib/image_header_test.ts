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

/** A screen of 1 × 1 with a colour table, an extension block and these frames. */
const gif = (...frames: string[]) =>
  bytes(`474946383961 0100 0100 800000 000000ffffff 21f904 00000000 00 ${frames.join("")} 3b`);
const frame = (size: string, place = "0000 0000") =>
  `2c ${place} ${size} 80 ff00ff00ff00 02 024c01 00`;

Deno.test("the largest size counts that an image names", () => {
  assert.deepEqual(imageSizeOf(gif(frame("0100 0100"))), { width: 1, height: 1 });
  assert.deepEqual(imageSizeOf(gif(frame("a00f d007"))), { width: 4000, height: 2000 });
  assert.deepEqual(imageSizeOf(gif(frame("0100 0100"), frame("a00f d007"))), {
    width: 4000,
    height: 2000,
  });
  assert.deepEqual(imageSizeOf(gif(frame("0100 0100", "9f0f cf07"))), {
    width: 4000,
    height: 2000,
  });
  const startOfFrame = (size: string) => `ffc0 0011 08 ${size} 03 012200 021101 031101`;
  const scan = "ffda 000c 03 01000211031100 3f00 1234ff00ffd05678";
  const large = { width: 4000, height: 2000 };
  for (
    const segments of [
      startOfFrame("0001 0001") + startOfFrame("07d0 0fa0"),
      startOfFrame("07d0 0fa0") + startOfFrame("0001 0001"),
      startOfFrame("0001 0001") + scan + startOfFrame("07d0 0fa0"),
      startOfFrame("0001 0001") + "123456" + startOfFrame("07d0 0fa0"),
    ]
  ) {
    assert.deepEqual(imageSizeOf(bytes(`ffd8 ${segments} ${scan} ffd9`)), large, segments);
  }
});

Deno.test("a GIF whose first frame lies behind the bytes given has no size", () => {
  const comment = `21fe ${`ff${"20".repeat(255)}`.repeat(1_000)} 00`;
  const whole = gif(comment, frame("a00f d007"));
  assert.deepEqual(imageSizeOf(whole), { width: 4000, height: 2000 });
  assert.equal(imageSizeOf(whole.subarray(0, 192 * 1024)), null);
});

Deno.test("images made of nothing but markers are read once", () => {
  for (
    const [head, filling] of [["ffd8", "ff00"], ["ffd8", "12"], [
      "474946383961 0100 0100 000000",
      "2100",
    ]]
  ) {
    const filled = filling!.repeat(Math.ceil(300_000 / (filling!.length / 2)));
    assert.equal(imageSizeOf(bytes(head! + filled)), null);
  }
});

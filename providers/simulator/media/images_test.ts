import assert from "node:assert/strict";
import { PNG } from "pngjs";
import { STRICT } from "../test_client.ts";
import { Canvas, textWidth, wrapText } from "./canvas.ts";
import { readPng, writePng } from "./png.ts";
import { inputOf, MediaClient } from "../../../test/helpers/media_client.ts";

const image = (parameters: Record<string, string | number>, prompt = "A lighthouse at dusk") =>
  ({ type: "image", prompt, parameters }) as const;

const decode = (bytes: Uint8Array) =>
  PNG.sync.read(Buffer.from(bytes)) as {
    width: number;
    height: number;
    data: Uint8Array;
  };

/** Share of the pixels that are as white as text. */
function whiteness({ data }: { data: Uint8Array }): number {
  let white = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at]! > 250 && data[at + 1]! > 250 && data[at + 2]! > 250) white++;
  }
  return white * 4 / data.length;
}

Deno.test("an image has the requested size and shows its prompt", STRICT, async () => {
  for (const size of ["512x512", "1024x1792", "256x256"]) {
    const [bytes] = await new MediaClient().make(image({ size }));
    const made = decode(bytes!);
    assert.equal(`${made.width}x${made.height}`, size);
    const share = whiteness(made);
    assert.ok(share > 0.02 && share < 0.3, `${size}: ${share}`);
  }
});

Deno.test("n images are n different ones", STRICT, async () => {
  const made = await new MediaClient().make(image({ size: "256x256", n: 4 }));
  assert.equal(new Set(made.map((bytes) => bytes.toBase64())).size, 4);
});

Deno.test("the same request makes the same image, another prompt another", STRICT, async () => {
  const size = "256x256";
  const once = await new MediaClient().make(image({ size }));
  assert.deepEqual(await new MediaClient().make(image({ size })), once);
  assert.notDeepEqual(await new MediaClient().make(image({ size }, "A reef")), once);
  assert.notDeepEqual(await new MediaClient().make(image({ size, seed: 7 })), once);
});

Deno.test("input images are shown in their colours", STRICT, async () => {
  const orange = new Canvas(40, 40);
  orange.fillGradient([250, 120, 0], [250, 120, 0]);
  const bytes = await writePng(orange);
  const inputs = [inputOf("image", bytes, "image/png")];
  const [made] = await new MediaClient().make({ ...image({ size: "512x512" }), inputs });
  const { width, data } = decode(made!);
  const at = (80 * width + 80) * 4;
  assert.deepEqual([...data.subarray(at, at + 3)].map((value) => value >> 3), [31, 15, 0]);
  const jpeg = [inputOf("image", Uint8Array.of(0xff, 0xd8, 0xff, 1), "image/jpeg")];
  const [other] = await new MediaClient().make({ ...image({ size: "512x512" }), inputs: jpeg });
  assert.notDeepEqual(other, made);
});

Deno.test("PNG files of every filter and colour type are read", STRICT, () => {
  const png = new PNG({ width: 19, height: 23 });
  for (let at = 0; at < png.data.length; at++) {
    png.data[at] = at % 4 === 3 ? 255 : at * 7 + (at >> 5) * 3;
  }
  for (const filterType of [0, 1, 2, 3, 4, -1]) {
    for (const [colorType, channels] of [[2, 3], [6, 3], [0, 1]] as const) {
      const written = PNG.sync.write(png, { colorType, filterType });
      const theirs = decode(written);
      const ours = readPng(written)!;
      assert.deepEqual([ours.width, ours.height], [19, 23]);
      for (let pixel = 0; pixel < 19 * 23; pixel++) {
        assert.deepEqual(
          [...ours.pixels.subarray(pixel * 3, pixel * 3 + channels)],
          [...theirs.data.subarray(pixel * 4, pixel * 4 + channels)],
        );
      }
    }
  }
  assert.equal(readPng(Uint8Array.of(1, 2, 3)), null);
  assert.equal(readPng(PNG.sync.write(png).subarray(0, 60)), null);
});

Deno.test("text is wrapped to a width, and words too long for a line are broken", STRICT, () => {
  const text = `A tide ${"over the stones ".repeat(8)}${"w".repeat(80)}`;
  const lines = wrapText(text, 20, 200);
  assert.ok(lines.every((line) => textWidth(line, 20) <= 200));
  assert.equal(lines.join("").replaceAll(" ", ""), text.replaceAll(" ", ""));
});

Deno.test("any text can be drawn, in any script and size", STRICT, async () => {
  for (const prompt of ["世界", "🌊", " ", "\u0000\n\n", "x".repeat(5000), "Ω Привет ñ ş"]) {
    const [bytes] = await new MediaClient().make(image({ size: "64x48" }, `.${prompt}`));
    assert.equal(decode(bytes!).width, 64);
  }
});

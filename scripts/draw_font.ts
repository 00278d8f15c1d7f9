/**
 * Writes providers/simulator/media/font.txt, the letters the simulator draws prompts with: from a free
 * font that Chromium finds on this machine, as fields of distance, which stay sharp at any size.
 *
 *     deno run -A scripts/draw_font.ts
 *
 * Needed only when letters are added. The licence of DejaVu Sans lies beside them.
 */
import { deflateRawSync } from "node:zlib";
import { openBrowser } from "../test/helpers/chromium.ts";
import type { Glyph } from "../providers/simulator/media/font.ts";

const FAMILY = "bold 1px 'DejaVu Sans'";
const LETTERS = range(0x20, 0x7e) + range(0xa1, 0xac) + range(0xae, 0xff) + range(0x391, 0x3a1) +
  range(0x3a3, 0x3ce) + "\u0401\u0451" + range(0x410, 0x44f) + "ŒœŠšŽžıŁłğşțș–—‘’“”„•…€™←→✓\u25a1";

await using opened = await openBrowser();
const page = await opened.openPage();
const glyphs = await page.evaluate(measure, { letters: [...LETTERS], family: FAMILY });
const text = JSON.stringify({ em: 20, pad: 3, ascent: 20, height: 29, glyphs });
const packed = deflateRawSync(text, { level: 9 }).toString("base64");
Deno.writeTextFileSync(
  new URL("../providers/simulator/media/font.txt", import.meta.url),
  packed.replaceAll(/.{1,120}/g, "$&\n"),
);
console.log(`${glyphs.length} letters, ${packed.length} characters`);

function range(from: number, to: number): string {
  return String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, at) => from + at));
}

/** Runs in the page. Each letter is drawn large; each cell then holds its distance to the outline. */
function measure({ letters, family }: { letters: string[]; family: string }): Glyph<string>[] {
  const [em, pad, ascent, height, zoom, reach] = [20, 3, 20, 29, 8, 3];
  // deno-lint-ignore no-explicit-any
  const canvas = new (globalThis as any).OffscreenCanvas(400, height * zoom);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return letters.map((letter) => {
    context.font = family.replace("1px", `${em * zoom}px`);
    const advance = context.measureText(letter).width / zoom;
    const width = Math.ceil(advance) + 2 * pad;
    context.fillStyle = "#000";
    context.fillRect(0, 0, 400, height * zoom);
    context.fillStyle = "#fff";
    context.fillText(letter, pad * zoom, ascent * zoom);
    const { data } = context.getImageData(0, 0, width * zoom, height * zoom);
    const wide = width * zoom;
    const high = height * zoom;
    const isInk = (x: number, y: number) =>
      x >= 0 && y >= 0 && x < wide && y < high && data[(y * wide + x) * 4] > 127;
    const far = reach * zoom;
    let cells = "";
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const [x, y] = [column * zoom + zoom / 2, row * zoom + zoom / 2];
        const inside = isInk(x, y);
        let nearest = far * far;
        for (let dy = -far; dy <= far; dy++) {
          for (let dx = -far; dx <= far; dx++) {
            const distance = dx * dx + dy * dy;
            if (distance < nearest && isInk(x + dx, y + dy) !== inside) nearest = distance;
          }
        }
        const share = (inside ? 1 : -1) * Math.sqrt(nearest) / far;
        cells += String.fromCharCode(64 + Math.round(share * 24));
      }
    }
    return { letter, advance: Math.round(advance * 100) / 100, width, cells };
  });
}

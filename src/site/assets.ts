import { createHash } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";

/** A file that browsers cache for good: its name contains a hash of its content. */
interface Asset {
  readonly path: string;
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Compressed bodies by encoding, made at the first request. */
  readonly compressed: Map<string, Uint8Array<ArrayBuffer>>;
}

/** Parts of the style sheet, in this order. */
const STYLES = [
  "tokens.css",
  "base.css",
  "controls.css",
  "parts.css",
  "layout.css",
  "pages.css",
  "console.css",
];

const FOLDER = new URL("./", import.meta.url);
let byName: ReadonlyMap<string, Asset> | undefined;
let byPath: ReadonlyMap<string, Asset>;

/** The path of an asset: `site.css`, or an island such as `copy.js`. */
export function assetPath(name: string): string {
  const asset = assets().get(name);
  if (asset === undefined) {
    throw new Error(`there is no asset ${name}: islands are built by \`deno task generate\``);
  }
  return asset.path;
}

/** GET /assets/*: the bytes, or null when there is no such asset. */
export function sendAsset(path: string, accepts: string): Response | null {
  assets();
  const asset = byPath.get(path);
  if (asset === undefined) return null;
  const encoding = /\bbr\b/.test(accepts) ? "br" : /\bgzip\b/.test(accepts) ? "gzip" : null;
  return new Response(encoding === null ? asset.body : compress(asset, encoding), {
    headers: {
      "content-type": asset.type,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      vary: "accept-encoding",
      ...(encoding === null ? {} : { "content-encoding": encoding }),
    },
  });
}

function assets(): ReadonlyMap<string, Asset> {
  if (byName === undefined) {
    byName = readAssets();
    byPath = new Map([...byName.values()].map((asset) => [asset.path, asset]));
  }
  return byName;
}

/** Runs at the first page, not at start: a gateway may never serve one. */
function readAssets(): Map<string, Asset> {
  const found = new Map<string, Asset>();
  const css = STYLES.map((name) => Deno.readTextFileSync(new URL(`styles/${name}`, FOLDER)));
  found.set("site.css", asset("site", "css", "text/css; charset=utf-8", css.join("\n")));
  for (const { name } of Deno.readDirSync(new URL("assets/", FOLDER))) {
    const [, stem] = /^(\w+)\.js$/.exec(name) ?? [];
    if (stem === undefined) continue;
    const text = Deno.readTextFileSync(new URL(`assets/${name}`, FOLDER));
    found.set(name, asset(stem, "js", "text/javascript; charset=utf-8", text));
  }
  return found;
}

function asset(stem: string, extension: string, type: string, text: string): Asset {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const body = new TextEncoder().encode(text);
  return { path: `/assets/${stem}-${hash}.${extension}`, type, body, compressed: new Map() };
}

function compress({ body, compressed }: Asset, encoding: "br" | "gzip"): Uint8Array<ArrayBuffer> {
  let bytes = compressed.get(encoding);
  if (bytes === undefined) {
    bytes = new Uint8Array(encoding === "br" ? brotliCompressSync(body) : gzipSync(body));
    compressed.set(encoding, bytes);
  }
  return bytes;
}

import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";

/** A file that the configuration names. */
export interface OwnFile {
  text: string;
  /** The name in the configuration with the hash of the text, so that another text has another name. */
  version: string;
}

const PATH = /^\.{0,2}\/|\.(?:ya?ml|json)$/;
const CHARACTERS_MAX = 256 * 1024;

/** Whether a value names a file next to gateway.yaml, such as `./service.yaml`, and nothing that is built in. */
export function isFileName(value: unknown): value is string {
  return typeof value === "string" && PATH.test(value);
}

/** Files next to gateway.yaml. Each is read once, so that one hash stands for one content. */
export class OwnFiles {
  /** To watch them. */
  readonly paths = new Set<string>();
  /** By the name that the configuration has for each. */
  readonly texts = new Map<string, string>();

  /** Reads from disk, or takes the texts from `stored`. */
  constructor(
    private readonly configFile: string,
    private readonly stored?: ReadonlyMap<string, string>,
  ) {}

  /** The file, or why it cannot be used, as the end of a sentence. */
  read(name: string): OwnFile | { reason: string } {
    const path = resolve(dirname(this.configFile), name);
    this.paths.add(path);
    const source = this.#textOf(name, path);
    if ("reason" in source) return source;
    this.texts.set(name, source.text);
    return { ...source, version: `${name}@${contentHash(source.text)}` };
  }

  #textOf(name: string, path: string): { text: string } | { reason: string } {
    const text = this.texts.get(name) ?? this.stored?.get(name);
    if (text !== undefined) return { text };
    return this.stored === undefined ? readText(path) : { reason: "is not stored" };
  }
}

/** Synchronous, because compilation is synchronous; the file is small. */
function readText(path: string): { text: string } | { reason: string } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Deno.readFileSync(path));
    return text.length > CHARACTERS_MAX ? { reason: "is larger than 256 KiB" } : { text };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { reason: "does not exist" };
    return { reason: error instanceof TypeError ? "is not UTF-8 text" : "cannot be read" };
  }
}

function contentHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

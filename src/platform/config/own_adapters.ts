import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import { blockOf, type BuildCapabilities } from "./checker.ts";
import type { ConfigFault } from "./faults.ts";
import { MODEL_TYPES } from "./model_type_specs.ts";
import type { LoadedYaml } from "./load.ts";

/** Adapters that a declaration brings along: `adapter: ./service.yaml` names a file beside it. */
export interface OwnAdapters {
  /** What this build can do, and these. */
  readonly known: BuildCapabilities;
  /** What an adapter is called in the plan: with the version of its file, so that plans keep theirs. */
  nameOf(adapter: string): string;
  readonly names: readonly string[];
  /** The files, to be watched. */
  readonly files: readonly string[];
  /** What stands in them, by the name that the declaration has for each. */
  readonly texts: ReadonlyMap<string, string>;
  readonly faults: readonly ConfigFault[];
}

const FILE = /^\.{0,2}\/|\.ya?ml$/;
const CHARACTERS_MAX = 256 * 1024;

/** `stored` holds the texts of the files, where they are not to be read from the disk. */
export function readOwnAdapters(
  loaded: LoadedYaml,
  known: BuildCapabilities,
  stored?: ReadonlyMap<string, string>,
): OwnAdapters {
  const { openAdapter } = known;
  const texts = new Map<string, string>();
  const names = new Map<string, string>();
  const files: string[] = [];
  const faults: ConfigFault[] = [];
  const adapters = new Map(known.adapters);
  const addressNeeded = new Set(known.addressNeeded);
  for (const [id, provider] of Object.entries(blockOf(blockOf(loaded.value).providers))) {
    const { adapter } = blockOf(provider);
    if (openAdapter === undefined || typeof adapter !== "string" || !FILE.test(adapter)) continue;
    // One whose file is at fault serves anything: what it would have served is anybody's guess.
    if (!adapters.has(adapter)) adapters.set(adapter, { types: MODEL_TYPES });
    const path = resolve(dirname(loaded.file), adapter);
    if (!files.includes(path)) files.push(path);
    const report = (message: string) =>
      faults.push(loaded.places.fault(["providers", id, "adapter"], { message }));
    // Read once, though several providers name it: the version speaks of one content.
    const read = texts.get(adapter);
    const source = read !== undefined
      ? { text: read }
      : stored === undefined
      ? readText(path)
      : readStored(stored, adapter);
    if ("reason" in source) report(`${adapter} ${source.reason}`);
    else {
      texts.set(adapter, source.text);
      const name = `${adapter}@${versionOf(source.text)}`;
      const opened = openAdapter(name, source.text);
      if ("faults" in opened) {
        for (const fault of opened.faults) report(`${adapter}:${fault}`);
      } else {
        names.set(adapter, name);
        adapters.set(adapter, opened);
        if (!opened.hasAddress) addressNeeded.add(adapter);
      }
    }
  }
  return {
    known: files.length === 0 ? known : { ...known, adapters, addressNeeded },
    nameOf: (adapter) => names.get(adapter) ?? adapter,
    names: [...names.values()],
    files,
    texts,
    faults,
  };
}

function readStored(
  stored: ReadonlyMap<string, string>,
  adapter: string,
): { text: string } | { reason: string } {
  const text = stored.get(adapter);
  return text === undefined ? { reason: "is not stored" } : { text };
}

/** Read at once: compiling a declaration is one step, and a file of this size is nothing. */
function readText(path: string): { text: string } | { reason: string } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Deno.readFileSync(path));
    return text.length > CHARACTERS_MAX ? { reason: "is larger than 256 KiB" } : { text };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { reason: "does not exist" };
    return { reason: error instanceof TypeError ? "is not UTF-8 text" : "cannot be read" };
  }
}

function versionOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

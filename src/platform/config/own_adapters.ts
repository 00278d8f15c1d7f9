import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import { blockOf, type BuildCapabilities } from "./checker.ts";
import type { ConfigIssue } from "./issues.ts";
import { MODEL_TYPES } from "../../model_types/model_types.ts";
import type { LoadedYaml } from "./load.ts";

/** Adapters from an operator's own files: `adapter: ./service.yaml` is a file next to gateway.yaml. */
export interface OwnAdapters {
  /** The capabilities of this build with these adapters added. */
  readonly capabilities: BuildCapabilities;
  /** The name of an adapter in the configuration: with the hash of its file, so that tasks keep theirs. */
  nameOf(adapter: string): string;
  readonly names: readonly string[];
  /** Paths of the files, to watch them. */
  readonly files: readonly string[];
  /** Texts of the files, by the name that the configuration file has for each. */
  readonly texts: ReadonlyMap<string, string>;
  readonly issues: readonly ConfigIssue[];
}

const FILE = /^\.{0,2}\/|\.ya?ml$/;
const CHARACTERS_MAX = 256 * 1024;

/** Reads the files from disk, or takes their texts from `stored`. */
export function readOwnAdapters(
  loaded: LoadedYaml,
  capabilities: BuildCapabilities,
  stored?: ReadonlyMap<string, string>,
): OwnAdapters {
  const { openAdapter } = capabilities;
  const texts = new Map<string, string>();
  const names = new Map<string, string>();
  const files: string[] = [];
  const issues: ConfigIssue[] = [];
  const adapters = new Map(capabilities.adapters);
  const baseUrlRequired = new Set(capabilities.baseUrlRequired);
  for (const [id, provider] of Object.entries(blockOf(blockOf(loaded.value).providers))) {
    const { adapter } = blockOf(provider);
    if (openAdapter === undefined || typeof adapter !== "string" || !FILE.test(adapter)) continue;
    // Its types are unknown until the file is valid: allow all of them, to avoid misleading issues.
    if (!adapters.has(adapter)) adapters.set(adapter, { types: MODEL_TYPES });
    const path = resolve(dirname(loaded.file), adapter);
    if (!files.includes(path)) files.push(path);
    const report = (message: string) =>
      issues.push(loaded.sourceMap.issue(["providers", id, "adapter"], { message }));
    // Read once even if several providers use it, so that one hash stands for one content.
    const read = texts.get(adapter);
    const source = read !== undefined
      ? { text: read }
      : stored === undefined
      ? readText(path)
      : readStored(stored, adapter);
    if ("reason" in source) report(`${adapter} ${source.reason}`);
    else {
      texts.set(adapter, source.text);
      const name = `${adapter}@${contentHash(source.text)}`;
      const opened = openAdapter(name, source.text);
      if ("issues" in opened) {
        for (const issue of opened.issues) report(`${adapter}:${issue}`);
      } else {
        names.set(adapter, name);
        adapters.set(adapter, opened);
        if (!opened.hasBaseUrl) baseUrlRequired.add(adapter);
      }
    }
  }
  return {
    capabilities: files.length === 0
      ? capabilities
      : { ...capabilities, adapters, baseUrlRequired },
    nameOf: (adapter) => names.get(adapter) ?? adapter,
    names: [...names.values()],
    files,
    texts,
    issues,
  };
}

function readStored(
  stored: ReadonlyMap<string, string>,
  adapter: string,
): { text: string } | { reason: string } {
  const text = stored.get(adapter);
  return text === undefined ? { reason: "is not stored" } : { text };
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

import { blockOf, type BuildCapabilities } from "./checker.ts";
import type { ConfigIssue } from "./issues.ts";
import { MODEL_TYPES } from "../../model_types/model_types.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";
import { isFileName, type OwnFiles } from "./own_files.ts";

/** Adapters from an operator's own files: `adapter: ./service.yaml` is a file next to gateway.yaml. */
export interface OwnAdapters {
  /** The capabilities of this build with these adapters added. */
  readonly capabilities: BuildCapabilities;
  /** The name of an adapter in the configuration: with the hash of its file, so that tasks keep theirs. */
  nameOf(adapter: string): string;
  readonly versions: readonly string[];
  readonly issues: readonly ConfigIssue[];
}

export function readOwnAdapters(
  loaded: LoadedYaml,
  capabilities: BuildCapabilities,
  files: OwnFiles,
): OwnAdapters {
  const { openAdapter } = capabilities;
  const versions = new Map<string, string>();
  const issues: ConfigIssue[] = [];
  const adapters = new Map(capabilities.adapters);
  const baseUrlRequired = new Set(capabilities.baseUrlRequired);
  for (const [id, provider] of Object.entries(blockOf(blockOf(loaded.value).providers))) {
    const { adapter } = blockOf(provider);
    if (openAdapter === undefined || !isFileName(adapter)) continue;
    // Its types are unknown until the file is valid: allow all of them, to avoid misleading issues.
    if (!adapters.has(adapter)) adapters.set(adapter, { types: MODEL_TYPES });
    const report = (message: string) =>
      issues.push(loaded.sourceMap.issue(["providers", id, "adapter"], { message }));
    const file = files.read(adapter);
    if ("reason" in file) {
      report(`${adapter} ${file.reason}`);
      continue;
    }
    const opened = openAdapter(file.version, file.text);
    if ("issues" in opened) {
      for (const issue of opened.issues) report(`${adapter}:${issue}`);
    } else {
      versions.set(adapter, file.version);
      adapters.set(adapter, opened);
      if (!opened.hasBaseUrl) baseUrlRequired.add(adapter);
    }
  }
  return {
    capabilities: adapters.size === capabilities.adapters.size
      ? capabilities
      : { ...capabilities, adapters, baseUrlRequired },
    nameOf: (adapter) => versions.get(adapter) ?? adapter,
    versions: [...versions.values()],
    issues,
  };
}

import { blockOf } from "./checker.ts";
import { type ConfigIssue, formatPath } from "./issues.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";

/** Sections that tasks do not read: an environment variable missing there must not fail a task. */
const UNUSED_SECTIONS = ["storage", "site", "webhooks"];
const PLACEHOLDER_URL = "https://unset.invalid";

/**
 * A stored configuration as tasks need it. An environment variable that is no longer set is not an error:
 * the provider that refers to it is disabled, and the others stay usable.
 */
export function configForTasks(loaded: LoadedYaml): LoadedYaml {
  if (typeof loaded.value !== "object" || loaded.value === null) return loaded;
  const value: Record<string, unknown> = { ...loaded.value };
  for (const section of UNUSED_SECTIONS) delete value[section];
  let issues = loaded.issues.filter((issue) => !UNUSED_SECTIONS.some((name) => isIn(issue, name)));
  const service = { ...blockOf(value.service) };
  for (const key of Object.keys(service)) {
    const isInKey = (issue: ConfigIssue) => isIn(issue, `service.${key}`);
    if (!issues.some(isInKey)) continue;
    delete service[key];
    issues = issues.filter((issue) => !isInKey(issue));
  }
  const providers = { ...blockOf(value.providers) };
  for (const [id, provider] of Object.entries(providers)) {
    const place = formatPath(["providers", id]);
    const own = issues.filter((issue) => isIn(issue, place));
    if (own.length === 0) continue;
    issues = issues.filter((issue) => !own.includes(issue));
    const { base_url } = blockOf(provider);
    const isUrlMissing = own.some(({ path }) => path === `${place}.base_url`);
    providers[id] = {
      ...blockOf(provider),
      api_key: "",
      ...(base_url === undefined ? {} : { base_url: isUrlMissing ? PLACEHOLDER_URL : base_url }),
    };
  }
  return { ...loaded, value: { ...value, service, providers }, issues };
}

function isIn({ path }: ConfigIssue, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}

import { blockOf } from "./checker.ts";
import { type ConfigFault, formatPath } from "./faults.ts";
import type { LoadedYaml } from "./load.ts";

/** What tasks do not read. Their variables may be gone, and that must not end a task. */
const LEFT_OUT = ["storage", "site", "webhooks"];
const NO_ADDRESS = "https://unset.invalid";

/**
 * A stored configuration as tasks need it. A variable that is not set any more makes no fault: a provider
 * that refers to it is switched off, and the others stay usable.
 */
export function configForTasks(loaded: LoadedYaml): LoadedYaml {
  if (typeof loaded.value !== "object" || loaded.value === null) return loaded;
  const value: Record<string, unknown> = { ...loaded.value };
  for (const section of LEFT_OUT) delete value[section];
  let faults = loaded.faults.filter((fault) => !LEFT_OUT.some((name) => isIn(fault, name)));
  const service = { ...blockOf(value.service) };
  for (const key of Object.keys(service)) {
    const isLost = (fault: ConfigFault) => isIn(fault, `service.${key}`);
    if (!faults.some(isLost)) continue;
    delete service[key];
    faults = faults.filter((fault) => !isLost(fault));
  }
  const providers = { ...blockOf(value.providers) };
  for (const [id, provider] of Object.entries(providers)) {
    const place = formatPath(["providers", id]);
    const own = faults.filter((fault) => isIn(fault, place));
    if (own.length === 0) continue;
    faults = faults.filter((fault) => !own.includes(fault));
    const { base_url } = blockOf(provider);
    const isLost = own.some(({ path }) => path === `${place}.base_url`);
    providers[id] = {
      ...blockOf(provider),
      api_key: "",
      ...(base_url === undefined ? {} : { base_url: isLost ? NO_ADDRESS : base_url }),
    };
  }
  return { ...loaded, value: { ...value, service, providers }, faults };
}

function isIn({ path }: ConfigFault, place: string): boolean {
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}

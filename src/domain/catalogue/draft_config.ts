import { renderBlockItem, renderMapping, renderWrappedItem } from "../../lib/yaml/render_yaml.ts";
import type {
  ModelEntry,
  PlanEntry,
  PriceEntry,
  ProviderEntry,
  UpstreamEntry,
} from "../../platform/config/gateway_file.ts";

export type DraftProvider = Pick<ProviderEntry, "adapter"> & Partial<ProviderEntry>;
export type DraftUpstream = Pick<UpstreamEntry, "provider"> & Partial<UpstreamEntry>;
export type DraftModel =
  & Pick<ModelEntry, "id" | "name" | "type" | "capabilities">
  & Partial<Omit<ModelEntry, "upstreams">>
  & { readonly upstreams: readonly DraftUpstream[] };

export interface DraftBook {
  readonly effective_at: string;
  readonly extends?: string;
  readonly entries: readonly PriceEntry[];
}

/** A configuration file that a command makes. What is not in it has its default. */
export interface DraftConfig {
  readonly plans: Readonly<Record<string, Partial<PlanEntry>>>;
  readonly providers: Readonly<Record<string, DraftProvider>>;
  readonly models: readonly DraftModel[];
  readonly prices: Readonly<Record<string, DraftBook>>;
}

const ABOUT = {
  service: [
    "The currency of all prices and balances. It cannot be changed after the first booking.",
  ],
  plans: [
    "What an account bought: its price book and limits. An account without another plan is on `free`.",
  ],
  providers: [
    "The AI services that the gateway calls. Clients never see their names, URLs, keys and costs.",
    "Keys are environment variables; ${NAME:-} instead of ${NAME} lets the gateway start without one.",
  ],
  models: [
    "What clients can use. An upstream with a lower priority is tried first; `cost` is what it charges.",
  ],
  prices: ["What accounts pay, as decimals in quotes. `check` warns about prices below cost."],
};

export interface DraftComments {
  /** At the top of the file. */
  readonly head: readonly string[];
  /** Below the models. */
  readonly remarks?: readonly string[];
  /** Where editors find the schema of the file. */
  readonly schema: string;
}

/** The text of the file. */
export function renderDraft(
  draft: DraftConfig,
  { head, remarks = [], schema }: DraftComments,
): string {
  const { plans, providers, models, prices } = draft;
  const parts = [
    [`# yaml-language-server: $schema=${schema}`, "#", ...commentLines(head)],
    [...commentLines(ABOUT.service), "service:", "  currency: USD"],
    Object.keys(plans).length === 0
      ? []
      : [...commentLines(ABOUT.plans), "plans:", renderMapping(plans, 2)],
    [...commentLines(ABOUT.providers), "providers:", renderNamed(providers)],
    [
      ...commentLines(ABOUT.models),
      "models:",
      models.map((model) => renderBlockItem(model, 2)).join("\n\n"),
      ...(remarks.length === 0 ? [] : ["", ...commentLines(remarks).map((line) => `  ${line}`)]),
    ],
    [...commentLines(ABOUT.prices), "prices:", ...Object.entries(prices).map(renderBook)],
  ];
  return parts.filter((lines) => lines.length > 0).map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

/** A block for each, so that a key can be added to it. */
function renderNamed(entries: Readonly<Record<string, object>>): string {
  return Object.entries(entries).map(([name, entry]) => `  ${name}:\n${renderMapping(entry, 4)}`)
    .join("\n");
}

function renderBook([name, { entries, ...head }]: [string, DraftBook]): string {
  const items = entries.map((entry) => renderWrappedItem(entry, 6)).join("\n");
  return `  ${name}:\n${renderMapping(head, 4)}\n    entries:\n${items}`;
}

function commentLines(lines: readonly string[]): string[] {
  return lines.map((line) => line === "" ? "#" : `# ${line}`);
}

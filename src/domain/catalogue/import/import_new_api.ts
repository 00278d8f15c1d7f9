import { escapeReferences } from "../../../lib/yaml/references.ts";
import type { CatalogueCost } from "../catalogue.ts";
import type { DraftUpstream } from "../draft_config.ts";
import { litellmCost, type LitellmFields } from "../read_litellm.ts";
import { timesFactor } from "../decimals.ts";
import { mapAmounts } from "../map_terms.ts";
import { copyableBody } from "./extra_body.ts";
import { type Imported, ImportNotes, type ImportOptions, nothingImported } from "./imported.ts";
import { ModelDrafts, UPSTREAMS_MAX } from "./model_drafts.ts";
import { type ImportedFacts, readModelFacts } from "./model_facts.ts";
import { modelId } from "./names.ts";
import { type AccountDraft, draftAccounts } from "./new_api_accounts.ts";
import { type NewApiChannel, type NewApiDump, readNewApiDump } from "./new_api_dump.ts";
import { DEFAULT_GROUP, NewApiGroups } from "./new_api_groups.ts";
import { NewApiPrices } from "./new_api_prices.ts";
import { mappedModel, type ReadChannel, readChannel, splitList } from "./new_api_services.ts";
import { ProviderDrafts } from "./provider_drafts.ts";
import { priorities, wholeWeights } from "./upstream_order.ts";

/** Models that new-api serves on other endpoints than chat and embeddings. */
const OTHER_MODEL =
  /dall-e|gpt-image|imagen|flux|stable-diffusion|midjourney|^mj_|suno|sora|veo-|kling|jimeng|vidu|whisper|(?:^|-)tts|realtime|moderation|rerank/i;
const EMBEDDINGS = "embeddings";
const CHAT_ENDPOINTS = new Set(["openai", "anthropic", "gemini", "openai-response"]);

/** A channel that can serve, with its providers in the new configuration. */
interface Served {
  readonly channel: NewApiChannel;
  readonly read: ReadChannel;
}

/** The configuration that serves what an installation of new-api serves, and its accounts. */
export function importNewApi(
  file: string,
  text: string,
  options: ImportOptions,
): Imported & { readonly accounts: readonly AccountDraft[] } {
  const dump = readNewApiDump(file, text);
  const notes = new ImportNotes();
  const prices = new NewApiPrices(file, dump);
  const served = readChannels(dump, notes);
  const groups = new NewApiGroups([
    ...served.flatMap(({ channel }) => groupsOf(channel)),
    ...dump.users.map(({ group }) => group || DEFAULT_GROUP),
  ]);
  const importing = new Importing({ prices, groups, notes, options });
  for (const [model, channels] of channelsByModel(served)) importing.addModel(model, channels);
  const { models, providers } = importing;
  if (models.isEmpty) throw nothingImported(file, notes);
  noteOptions(dump, notes);
  return {
    draft: groups.addPlans(models.toDraft(providers.entries, options.now), prices, notes),
    variables: providers.variables,
    notes,
    accounts: draftAccounts(dump, { prices, groups, models, notes, now: options.now }),
  };
}

function readChannels({ channels }: NewApiDump, notes: ImportNotes): Served[] {
  return channels.flatMap((channel) => {
    const read = readChannel(channel);
    const subject = channelName(channel);
    if (typeof read === "string") {
      notes.leaveOut(subject, read);
      return [];
    }
    for (const name of IGNORED) {
      if (channel[name] !== null) notes.leaveOut(subject, `${name}: there is no such setting here`);
    }
    if (channel.param_override !== null && overrideOf(channel) === null) {
      notes.leaveOut(subject, "param_override: it has operations, or what may be a key");
    }
    return [{ channel, read }];
  });
}

const IGNORED = ["header_override", "status_code_mapping"] as const;

/** Fields for every request; null where there are none that can be copied. */
function overrideOf({ param_override: body }: NewApiChannel): Record<string, unknown> | null {
  return body === null || "operations" in body ? null : copyableBody(body);
}

function channelName({ id, name }: NewApiChannel): string {
  return `channel ${id}${name === "" ? "" : ` (${name.slice(0, 60).toWellFormed()})`}`;
}

function groupsOf({ group }: NewApiChannel): string[] {
  const groups = splitList(group);
  return groups.length === 0 ? [DEFAULT_GROUP] : groups;
}

function channelsByModel(served: readonly Served[]): Map<string, Served[]> {
  const byModel = new Map<string, Served[]>();
  for (const each of served) {
    for (const model of splitList(each.channel.models)) {
      const channels = byModel.get(model);
      if (channels === undefined) byModel.set(model, [each]);
      else channels.push(each);
    }
  }
  return byModel;
}

class Importing {
  readonly providers = new ProviderDrafts(new Set());
  readonly models: ModelDrafts;

  constructor(
    private readonly deps: {
      prices: NewApiPrices;
      groups: NewApiGroups;
      notes: ImportNotes;
      options: ImportOptions;
    },
  ) {
    this.models = new ModelDrafts(deps.notes);
  }

  addModel(name: string, all: readonly Served[]): void {
    const { notes, prices, groups, options } = this.deps;
    const served = all.toSorted((a, b) => b.channel.priority - a.channel.priority)
      .slice(0, UPSTREAMS_MAX);
    if (served.length < all.length) {
      notes.leaveOut(name, `channels after the first ${UPSTREAMS_MAX}`);
    }
    const listed = this.#listed(name, served);
    const described = this.#describe(name, listed);
    if (typeof described === "string") return notes.leaveOut(name, described);
    const cost = listed === null ? null : tokenCost(listed, described.type);
    const marked = cost === null
      ? null
      : mapAmounts(cost, (amount) => timesFactor(amount, options.markup));
    const found = prices.priceOf(name, { type: described.type, listed: marked });
    if (typeof found === "string") return notes.leaveOut(name, found);
    const upstreams = this.#upstreams(name, served, cost);
    const groupsSeeing = new Set(served.flatMap(({ channel }) => groupsOf(channel)));
    const visible = groups.visibleTo(groupsSeeing);
    const id = this.models.add(name, {
      type: described.type,
      capabilities: described.capabilities,
      ...(Object.keys(described.limits).length === 0 ? {} : { limits: described.limits }),
      ...(visible === null ? {} : { visible_to: visible }),
      upstreams,
    }, found.price);
    notes.take(
      id,
      `${described.type}, ${count(served.length, "channel")}, price by ${found.source}`,
    );
    const mixed = served.some(({ channel }) => groupsOf(channel).length < groupsSeeing.size);
    if (mixed) {
      notes.change(
        id,
        "its channels are for different groups: here all that see it share its upstreams",
      );
    }
  }

  #listed(name: string, served: readonly Served[]): LitellmFields | null {
    for (const { channel, read } of served) {
      const models = [mappedModel(channel, name), name];
      const found = this.deps.options.priceList?.find(read.services, models) ?? null;
      if (found !== null) return found;
    }
    return null;
  }

  /** What the model is; or the reason why it is not imported. */
  #describe(name: string, listed: LitellmFields | null): ImportedFacts | string {
    if (name.includes("*")) return "wildcards are not offered: list each model";
    if (modelId(name) === null) return "its name has no letter or digit for an id";
    const endpoints = this.deps.prices.pricingOf(name)?.supported_endpoint_types ?? [];
    const isEmbedding = endpoints.includes(EMBEDDINGS);
    const isOther = endpoints.length > 0 && !isEmbedding &&
      !endpoints.some((each) => CHAT_ENDPOINTS.has(each));
    const mode = isEmbedding ? { mode: "embedding" } : {};
    const facts = isOther || (listed === null && !isEmbedding && OTHER_MODEL.test(name))
      ? null
      : readModelFacts({ ...listed, ...mode }, { name, isListed: listed !== null });
    return facts ?? "only models for chat and embeddings are imported, add it by hand";
  }

  /** The channels of a model: a higher priority is tried first, and keys of a channel share its weight. */
  #upstreams(name: string, served: readonly Served[], cost: CatalogueCost | null): DraftUpstream[] {
    const ranks = priorities(served.map(({ channel }) => -channel.priority));
    const weights = served.map(({ channel, read }) =>
      Math.max(1, channel.weight) / read.sources.length
    );
    const shares = wholeWeights(weights);
    const isShared = shares.some((share) => share !== shares[0]);
    return served.flatMap(({ channel, read }, at) => {
      const body = overrideOf(channel);
      return read.sources.map((source): DraftUpstream => ({
        provider: this.providers.add(source, channelName(channel)),
        model: escapeReferences(mappedModel(channel, name)),
        ...(ranks.some((rank) => rank !== 0) ? { priority: ranks[at]! } : {}),
        ...(isShared ? { weight: shares[at]! } : {}),
        ...(cost === null ? {} : { cost: cost as NonNullable<DraftUpstream["cost"]> }),
        ...(body === null ? {} : { extra_body: body }),
      }));
    });
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function tokenCost(fields: LitellmFields, type: "chat" | "embedding"): CatalogueCost | null {
  const cost = litellmCost({ ...fields, mode: type });
  return cost?.unit === "1M tokens" ? cost : null;
}

/** Options that operators will look for. */
const NOTED_OPTIONS: readonly (readonly [name: string, reason: string])[] = [
  ["GroupGroupRatio", "a group has one price book"],
  ["TopupGroupRatio", "payments are booked as they are: docs/operate/billing.md"],
  ["ImageRatio", "images in prompts cost what their tokens cost"],
  ["ModelRequestRateLimitGroup", "limits of plans: limits in docs/operate/configuration.md"],
];

function noteOptions({ options }: NewApiDump, notes: ImportNotes): void {
  for (const [name, reason] of NOTED_OPTIONS) {
    if (!["", "{}"].includes((options[name] ?? "").trim())) {
      notes.leaveOut(`option ${name}`, reason);
    }
  }
}

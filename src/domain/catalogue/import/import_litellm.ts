import type { PriceEntry } from "../../../platform/config/gateway_file.ts";
import { dearestCost } from "../catalogue.ts";
import { timesFactor } from "../decimals.ts";
import type { DraftUpstream } from "../draft_config.ts";
import { mapAmounts } from "../map_terms.ts";
import { type Imported, ImportNotes, type ImportOptions, nothingImported } from "./imported.ts";
import {
  type ReadDeployment,
  readDeployment,
  upstreamOf,
  wholeSeconds,
} from "./litellm_deployments.ts";
import { readLitellmDocument } from "./litellm_document.ts";
import { type LitellmRouting, readLitellmSettings } from "./litellm_settings.ts";
import type { LitellmUpstream } from "./litellm_services.ts";
import { ModelDrafts } from "./model_drafts.ts";
import { ProviderDrafts } from "./provider_drafts.ts";
import { priorities, wholeWeights } from "./upstream_order.ts";

/** The configuration that serves what a configuration of LiteLLM's proxy serves. */
export function importLitellm(file: string, text: string, options: ImportOptions): Imported {
  const document = readLitellmDocument(file, text);
  const notes = new ImportNotes();
  const routing = readLitellmSettings(document, notes);
  const reading = {
    priceList: options.priceList,
    timeoutSeconds: wholeSeconds(routing.timeout),
    notes,
  };
  const read = document.deployments.map((each) => readDeployment(each, reading))
    .filter((each) => each !== null);
  const providers = new ProviderDrafts(
    new Set([...document.variables, ...read.flatMap(({ upstream }) => impliedVariable(upstream))]),
  );
  const models = new ModelDrafts(notes);
  for (const [name, deployments] of Map.groupBy(read, ({ deployment }) => deployment.name)) {
    addModel(name, deployments, { providers, models, notes, options });
  }
  addFallbacks(routing, models, notes);
  for (const { alias, model } of routing.aliases) models.addAlias(alias, model);
  if (models.isEmpty) throw nothingImported(file, notes);
  return {
    draft: models.toDraft(providers.entries, options.now),
    variables: providers.variables,
    notes,
  };
}

/** The variable of a key that the file does not name, because LiteLLM reads it by itself. */
function impliedVariable({ source: { apiKey } }: LitellmUpstream): string[] {
  return apiKey !== undefined && "variable" in apiKey ? [apiKey.variable] : [];
}

function addModel(
  name: string,
  all: readonly ReadDeployment[],
  { providers, models, notes, options }: {
    providers: ProviderDrafts;
    models: ModelDrafts;
    notes: ImportNotes;
    options: ImportOptions;
  },
): void {
  const { type } = all[0]!.facts;
  const read = all.filter(({ facts }) => facts.type === type);
  if (read.length < all.length) notes.leaveOut(name, `deployments that are not for ${type}`);
  const costs = read.flatMap(({ cost }) => cost ?? []);
  if (costs.length === 0) {
    notes.leaveOut(name, "no price: neither the file nor --prices has one for it");
    return;
  }
  const dearest = read.find(({ cost }) => cost === dearestCost(costs))!;
  const { facts } = dearest;
  const drafts = read.map((each) =>
    upstreamOf(each, providers.add(each.upstream.source, each.deployment.at), notes)
  );
  const id = models.add(name, {
    type: facts.type,
    capabilities: facts.capabilities,
    ...(Object.keys(facts.limits).length === 0 ? {} : { limits: facts.limits }),
    upstreams: inOrder(read, drafts, { name, notes }),
  }, priceOf(dearest, options.markup));
  const source = dearest.isPriceListed ? "the price list" : "the file";
  const count = `${drafts.length} ${drafts.length === 1 ? "upstream" : "upstreams"}`;
  notes.take(
    id,
    `${type}, ${count} (${
      [...new Set(drafts.map(({ provider }) => provider))].join(", ")
    }), price of ${source}`,
  );
}

function priceOf({ cost }: ReadDeployment, markup: string): Omit<PriceEntry, "model"> {
  const terms = mapAmounts(cost!, (amount) => timesFactor(amount, markup));
  return { billing_type: "token", ...terms } as Omit<PriceEntry, "model">;
}

/** `order` is a priority; `weight`, or else the limits of each, are shares. */
function inOrder(
  read: readonly ReadDeployment[],
  drafts: readonly DraftUpstream[],
  { name, notes }: { name: string; notes: ImportNotes },
): DraftUpstream[] {
  const numbers = (key: string) =>
    read.map(({ deployment }) => {
      const value = deployment.params[key];
      return typeof value === "number" && value > 0 && value < 1e12 ? value : null;
    });
  const orders = priorities(numbers("order").map((order) => order ?? Number.MAX_SAFE_INTEGER));
  const shares = ["weight", "rpm", "tpm"].map((key) => ({ key, values: numbers(key) }))
    .find(({ values }) => values.every((value) => value !== null));
  const weights = shares === undefined ? null : wholeWeights(shares.values as number[]);
  const limited = ["rpm", "tpm"].filter((key) => numbers(key).some((value) => value !== null));
  if (limited.length > 0) {
    const used = limited.includes(shares?.key ?? "") && read.length > 1;
    notes.change(
      name,
      `${limited.join(" and ")}: upstreams have no rates${
        used ? `; ${shares!.key} is their share of requests` : ""
      }`,
    );
  }
  const hasOrders = orders.some((order) => order !== 0);
  const hasWeights = weights?.some((weight) => weight !== weights[0]) ?? false;
  return drafts.map(({ provider, model, ...draft }, at) => ({
    provider,
    model: model!,
    ...(hasOrders ? { priority: orders[at]! } : {}),
    ...(hasWeights ? { weight: weights![at]! } : {}),
    ...draft,
  }));
}

/** The upstreams of the other models follow those of the model itself. Its price stays. */
function addFallbacks(
  { fallbacks }: LitellmRouting,
  models: ModelDrafts,
  notes: ImportNotes,
): void {
  for (const { model, others } of fallbacks) {
    const added = others.filter((other) => models.addFallback(model, other));
    const missing = others.filter((other) => !added.includes(other));
    if (added.length > 0) {
      notes.change(
        model,
        `falls back to ${added.join(", ")} at its own price and under its own name`,
      );
    }
    if (missing.length > 0) {
      notes.leaveOut(
        `fallbacks of ${model}`,
        `${missing.join(", ")}: not imported, or of another type`,
      );
    }
  }
}

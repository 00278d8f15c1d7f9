import { escapeReferences } from "../../../lib/yaml/references.ts";
import type { CatalogueCost } from "../catalogue.ts";
import { objectOf } from "../catalogue.ts";
import type { DraftUpstream } from "../draft_config.ts";
import { litellmCost, type LitellmFields } from "../read_litellm.ts";
import { copyableBody } from "./extra_body.ts";
import type { ImportNotes } from "./imported.ts";
import type { Deployment } from "./litellm_document.ts";
import { type LitellmUpstream, readUpstream } from "./litellm_services.ts";
import { type ImportedFacts, modeOf, readModelFacts } from "./model_facts.ts";
import { modelId } from "./names.ts";
import type { PriceList } from "./price_list.ts";

/** A deployment that can be an upstream. */
export interface ReadDeployment {
  readonly deployment: Deployment;
  readonly upstream: LitellmUpstream;
  readonly facts: ImportedFacts;
  /** Null: neither the file nor the price list says it. */
  readonly cost: CatalogueCost | null;
  readonly isPriceListed: boolean;
}

/** Keys of `litellm_params` that are read, here or by `readUpstream`. */
const READ = new Set([
  ...["model", "api_key", "api_base", "base_url", "api_version", "organization", "headers"],
  ...["extra_headers", "extra_body", "custom_llm_provider", "litellm_credential_name"],
  ...["rpm", "tpm", "weight", "order", "timeout"],
]);
/** What LiteLLM counts, under names such as `input_cost_per_token_above_128k_tokens`. */
const COST = /cost/;
const NUMBER = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** Null, with a note, where the deployment cannot be an upstream. */
export function readDeployment(
  deployment: Deployment,
  options: { priceList: PriceList | null; timeoutSeconds: number | undefined; notes: ImportNotes },
): ReadDeployment | null {
  const { notes } = options;
  const subject = subjectOf(deployment);
  const leaveOut = (reason: string) => {
    notes.leaveOut(subject, reason);
    return null;
  };
  if ([deployment.name, deployment.model].some((name) => name.includes("*"))) {
    return leaveOut("wildcards are not offered: list each model, because each has a price");
  }
  if (UNPRINTABLE.test(deployment.model)) return leaveOut("its model has control characters");
  if (modelId(deployment.name) === null) return leaveOut("its name has no letter or digit");
  const upstream = readUpstream(deployment, options.timeoutSeconds);
  if (typeof upstream === "string") return leaveOut(upstream);
  const listed = findListed(deployment, upstream, options.priceList);
  const fields = fieldsOf(deployment, listed);
  const { model: name } = upstream;
  const facts = readModelFacts(fields, { name, isListed: listed !== null });
  if (facts === null) {
    return leaveOut(
      `a model for ${modeOf(fields, name)}: only chat and embeddings are imported, add it by hand`,
    );
  }
  noteIgnored(deployment, notes);
  const cost = litellmCost({ ...fields, mode: facts.type });
  const isSold = cost?.unit === "1M tokens";
  const own = litellmCost({ ...fieldsOf(deployment, null), mode: facts.type });
  return {
    deployment,
    upstream,
    facts,
    cost: isSold ? cost : null,
    isPriceListed: isSold && own === null,
  };
}

export function subjectOf({ name, at }: Deployment): string {
  return `${name} (${at})`;
}

function findListed(
  { model, info }: Deployment,
  { service, model: name }: LitellmUpstream,
  list: PriceList | null,
): LitellmFields | null {
  const base = typeof info.base_model === "string" ? [info.base_model] : [];
  const names = [...base, name, model].flatMap((each) => [each, each.replace(/^[^/]*\//, "")]);
  return list?.find([service, ...(service === "azure" ? ["openai"] : [])], names) ?? null;
}

/** What the file says comes before what the list says. */
function fieldsOf({ params, info }: Deployment, listed: LitellmFields | null): LitellmFields {
  const costs = Object.entries(params).filter(([name]) => COST.test(name));
  const own = [...Object.entries(info), ...costs].filter(([, value]) => value !== null)
    .map(([name, value]) => [name, COST.test(name) ? numberOf(value) : value]);
  return { ...listed, ...Object.fromEntries(own) };
}

function numberOf(value: unknown): unknown {
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
}

function noteIgnored(deployment: Deployment, notes: ImportNotes): void {
  const ignored = Object.keys(deployment.params)
    .filter((name) => !READ.has(name) && !COST.test(name));
  if (ignored.length > 0) {
    notes.leaveOut(
      subjectOf(deployment),
      `${ignored.join(", ")}: models have no such setting here`,
    );
  }
}

/** The upstream of a deployment, without its place among others. */
export function upstreamOf(
  { deployment, upstream, cost }: ReadDeployment,
  provider: string,
  notes: ImportNotes,
): DraftUpstream {
  const seconds = wholeSeconds(deployment.params.timeout);
  const body = objectOf(deployment.params.extra_body);
  const extraBody = body === null ? null : copyableBody(body);
  if (body !== null && extraBody === null) {
    notes.leaveOut(subjectOf(deployment), "extra_body: it has what may be a key, or is too large");
  }
  return {
    provider,
    model: escapeReferences(upstream.model),
    ...(seconds === undefined ? {} : { timeout_seconds: seconds }),
    ...(cost === null ? {} : { cost: cost as NonNullable<DraftUpstream["cost"]> }),
    ...(extraBody === null ? {} : { extra_body: extraBody }),
  };
}

const SECONDS_MAX = 3600;

/** A timeout as the configuration takes it; undefined where there is none. */
export function wholeSeconds(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value > 0)) return undefined;
  return Math.min(SECONDS_MAX, Math.ceil(value));
}

import { blockOf, type Checker, listOf, type Names } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { Path } from "./issues.ts";
import {
  definitionOf,
  isModelType,
  type ModelType,
  modelWithArticle,
} from "../../model_types/model_types.ts";
import { didYouMean } from "../../lib/suggest.ts";

type Keys = Record<string, unknown>;

/** Models: ids are unique, providers and plans exist, capabilities and limits belong to the model type. */
export function checkModels(checker: Checker, file: Partial<GatewayFile>, now: number): void {
  const providers = blockOf(file.providers);
  checkAdapters(checker, providers);
  const providerNames = checker.names(["providers"], file.providers);
  const planNames = checker.names(["plans"], file.plans ?? {}, "free");
  const firstAt = new Map<string, number>();
  for (const [index, item] of listOf(file.models).entries()) {
    const model = blockOf(item);
    const path: Path = ["models", index];
    if (typeof model.id === "string" && !checker.isInvalid([...path, "id"])) {
      const first = firstAt.get(model.id);
      if (first !== undefined) {
        checker.report([...path, "id"], { message: `models[${first}] already has this id` });
      } else firstAt.set(model.id, index);
    }
    checkUpstreams(checker, path, model, { providers, names: providerNames });
    if (isModelType(model.type)) checkModelType(checker, path, model, model.type);
    for (const [at, plan] of listOf(blockOf(model.visible_to).plans).entries()) {
      if (typeof plan !== "string") continue;
      checker.reference([...path, "visible_to", "plans", at], plan, "plan", planNames);
    }
    warnDates(checker, path, model, now);
  }
  checkAliases(checker, file);
}

/** Aliases: none is the id or an alias of another model. */
function checkAliases(checker: Checker, file: Partial<GatewayFile>): void {
  const models = listOf(file.models).map(blockOf);
  const owners = new Map<unknown, string>();
  for (const [index, { id }] of models.entries()) {
    if (!owners.has(id)) owners.set(id, `models[${index}]`);
  }
  for (const [index, model] of models.entries()) {
    for (const [at, alias] of listOf(model.aliases).entries()) {
      const owner = owners.get(alias);
      if (owner === undefined) owners.set(alias, `models[${index}]`);
      else {
        checker.report(["models", index, "aliases", at], {
          message: `${owner} already has this id or alias`,
        });
      }
    }
  }
}

function checkAdapters(checker: Checker, providers: Keys): void {
  for (const [name, provider] of Object.entries(providers)) {
    const adapter = blockOf(provider).adapter;
    if (typeof adapter !== "string") continue;
    checker.reference(
      ["providers", name, "adapter"],
      adapter,
      "adapter",
      checker.capabilities.adapters,
    );
    if (
      checker.capabilities.baseUrlRequired?.has(adapter) === true &&
      blockOf(provider).base_url === undefined
    ) {
      checker.report(["providers", name, "adapter"], {
        message: `the adapter "${adapter}" has no default URL`,
        suggestion: "Add base_url.",
      });
    }
    warnEndpointUrl(checker, name, blockOf(provider).base_url);
  }
}

/** Paths that adapters add to the base URL. */
const ENDPOINT =
  /\/(chat\/completions|completions|responses|messages|embeddings|images\/generations|audio\/speech|videos)\/?$/;

function warnEndpointUrl(checker: Checker, provider: string, url: unknown): void {
  const ending = typeof url === "string" ? ENDPOINT.exec(url.split("?", 1)[0]!) : null;
  if (ending === null) return;
  checker.report(["providers", provider, "base_url"], {
    severity: "warning",
    message: `ends in the path of an endpoint, /${ending[1]}`,
    suggestion: "Leave the path out: the adapter adds it.",
  });
}

function checkUpstreams(
  checker: Checker,
  path: Path,
  model: Keys,
  { providers, names }: { providers: Keys; names: Names },
): void {
  for (const [index, item] of listOf(model.upstreams).entries()) {
    const name = blockOf(item).provider;
    if (typeof name !== "string") continue;
    const at = [...path, "upstreams", index, "provider"];
    checker.reference(at, name, "provider", names);
    const adapter = Object.hasOwn(providers, name) ? blockOf(providers[name]).adapter : undefined;
    const types = typeof adapter === "string"
      ? checker.capabilities.adapters.get(adapter)?.types
      : undefined;
    if (
      isModelType(model.type) && types !== undefined && !types.includes(model.type)
    ) {
      checker.report(at, {
        message: `the adapter "${adapter}" serves ${types.join(", ")} models, not ${model.type}`,
      });
    }
  }
}

function checkModelType(checker: Checker, path: Path, model: Keys, type: ModelType): void {
  const { capabilities, limits } = definitionOf(type);
  for (const [index, capability] of listOf(model.capabilities).entries()) {
    if (typeof capability !== "string" || capabilities.includes(capability)) continue;
    const at = [...path, "capabilities", index];
    checker.report(at, {
      message: `${checker.sourceText(at)} is not a capability of ${modelWithArticle(type)}: use ${
        capabilities.join(", ")
      }`,
      suggestion: didYouMean(capability, capabilities),
    });
  }
  warnUnlikely(checker, path, model, type);
  for (const key of Object.keys(blockOf(model.limits))) {
    if (limits.includes(key)) continue;
    checker.report([...path, "limits", key], {
      message: `is not a limit of ${modelWithArticle(type)}: use ${limits.join(", ")}`,
    }, "key");
  }
}

/** What is valid and almost certainly a mistake. */
function warnUnlikely(checker: Checker, path: Path, model: Keys, type: ModelType): void {
  const { context_tokens: context, max_output_tokens: output } = blockOf(model.limits);
  if (typeof context === "number" && typeof output === "number" && output > context) {
    checker.report([...path, "limits", "max_output_tokens"], {
      severity: "warning",
      message: "is above context_tokens",
    });
  }
  const given = listOf(model.capabilities);
  // A misspelt one is reported by itself.
  const areKnown = given.every((one) => definitionOf(type).capabilities.includes(String(one)));
  if (type === "chat" && given.length > 0 && areKnown && !given.includes("chat")) {
    checker.report([...path, "capabilities"], {
      severity: "warning",
      message: 'a chat model should have the capability "chat"',
    });
  }
}

function warnDates(checker: Checker, path: Path, model: Keys, now: number): void {
  if (typeof model.sunset_at === "string" && Date.parse(model.sunset_at) <= now) {
    checker.report([...path, "sunset_at"], {
      severity: "warning",
      message: "has passed: the model is unavailable",
    });
  }
  if (model.status === "deprecated" || checker.isInvalid([...path, "status"])) return;
  if (model.deprecated_at === undefined) return;
  checker.report([...path, "deprecated_at"], {
    severity: "warning",
    message: "has no effect unless the status is deprecated",
  }, "key");
}

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
export function checkModels(checker: Checker, file: Partial<GatewayFile>): void {
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
    warnUnusedDates(checker, path, model);
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
  }
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
  for (const key of Object.keys(blockOf(model.limits))) {
    if (limits.includes(key)) continue;
    checker.report([...path, "limits", key], {
      message: `is not a limit of ${modelWithArticle(type)}: use ${limits.join(", ")}`,
    }, "key");
  }
}

function warnUnusedDates(checker: Checker, path: Path, model: Keys): void {
  if (model.status === "deprecated" || checker.isInvalid([...path, "status"])) return;
  for (const key of ["deprecated_at", "sunset_at"]) {
    if (model[key] === undefined) continue;
    checker.report([...path, key], {
      severity: "warning",
      message: "has no effect unless the status is deprecated",
    }, "key");
  }
}

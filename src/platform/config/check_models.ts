import { blockOf, type Checker, listOf, type Names } from "./checker.ts";
import type { Declaration } from "./gateway_file.ts";
import type { Path } from "./faults.ts";
import {
  MODEL_TYPE_SPECS,
  type ModelType,
  modelTypeSpec,
  modelWithArticle,
} from "./model_type_specs.ts";
import { didYouMean } from "../../lib/suggest.ts";

type Keys = Record<string, unknown>;

/** Models: ids are unique, upstreams and plans exist, capabilities and limits fit the type. */
export function checkModels(checker: Checker, declared: Partial<Declaration>): void {
  const providers = blockOf(declared.providers);
  for (const [name, provider] of Object.entries(providers)) {
    const adapter = blockOf(provider).adapter;
    if (typeof adapter !== "string") continue;
    checker.reference(["providers", name, "adapter"], adapter, "adapter", checker.known.adapters);
    if (
      checker.known.addressNeeded?.has(adapter) === true && blockOf(provider).base_url === undefined
    ) {
      checker.report(["providers", name, "adapter"], {
        message: `the adapter "${adapter}" has no address of its own`,
        suggestion: "Add base_url.",
      });
    }
  }
  const providerNames = checker.names(["providers"], declared.providers);
  const planNames = checker.names(["plans"], declared.plans ?? {}, "free");
  const firstAt = new Map<string, number>();
  for (const [index, item] of listOf(declared.models).entries()) {
    const model = blockOf(item);
    const path: Path = ["models", index];
    if (typeof model.id === "string" && !checker.isSpoiled([...path, "id"])) {
      const first = firstAt.get(model.id);
      if (first !== undefined) {
        checker.report([...path, "id"], { message: `models[${first}] has this id already` });
      } else firstAt.set(model.id, index);
    }
    checkUpstreams(checker, path, model, providers, providerNames);
    if (modelTypeSpec(model.type) !== null) checkFit(checker, path, model, model.type as ModelType);
    for (const [at, plan] of listOf(blockOf(model.visible_to).plans).entries()) {
      if (typeof plan !== "string") continue;
      checker.reference([...path, "visible_to", "plans", at], plan, "plan", planNames);
    }
    warnUnsentNotice(checker, path, model);
  }
}

function checkUpstreams(
  checker: Checker,
  path: Path,
  model: Keys,
  providers: Keys,
  names: Names,
): void {
  for (const [index, item] of listOf(model.upstreams).entries()) {
    const name = blockOf(item).provider;
    if (typeof name !== "string") continue;
    const at = [...path, "upstreams", index, "provider"];
    checker.reference(at, name, "provider", names);
    const adapter = Object.hasOwn(providers, name) ? blockOf(providers[name]).adapter : undefined;
    const types = typeof adapter === "string"
      ? checker.known.adapters.get(adapter)?.types
      : undefined;
    if (
      modelTypeSpec(model.type) !== null && types !== undefined &&
      !types.includes(model.type as ModelType)
    ) {
      checker.report(at, {
        message: `the adapter "${adapter}" serves ${types.join(", ")} models, not ${model.type}`,
      });
    }
  }
}

function checkFit(checker: Checker, path: Path, model: Keys, type: ModelType): void {
  for (const [index, capability] of listOf(model.capabilities).entries()) {
    if (
      typeof capability !== "string" || MODEL_TYPE_SPECS[type].capabilities.includes(capability)
    ) continue;
    const at = [...path, "capabilities", index];
    checker.report(at, {
      message: `${checker.written(at)} does not fit ${modelWithArticle(type)}: use ${
        MODEL_TYPE_SPECS[type].capabilities.join(", ")
      }`,
      suggestion: didYouMean(capability, MODEL_TYPE_SPECS[type].capabilities),
    });
  }
  for (const key of Object.keys(blockOf(model.limits))) {
    if (MODEL_TYPE_SPECS[type].limits.includes(key)) continue;
    checker.report([...path, "limits", key], {
      message: `does not fit ${modelWithArticle(type)}: use ${
        MODEL_TYPE_SPECS[type].limits.join(", ")
      }`,
    }, "key");
  }
}

function warnUnsentNotice(checker: Checker, path: Path, model: Keys): void {
  if (model.status === "deprecated" || checker.isSpoiled([...path, "status"])) return;
  for (const key of ["deprecated_at", "sunset_at"]) {
    if (model[key] === undefined) continue;
    checker.report([...path, key], {
      severity: "warning",
      message: "is only sent while the status is deprecated",
    }, "key");
  }
}

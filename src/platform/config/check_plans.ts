import { definitionOf, MODEL_TYPES } from "../../model_types/model_types.ts";
import { USAGE_KINDS } from "../../model_types/usage.ts";
import { blockOf, type Checker, listOf } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";
import { modelNamesOf, modelsById } from "./model_names.ts";

/** Plans: their price books exist, and so do the models that their quotas are for. */
export function checkPlans(checker: Checker, file: Partial<GatewayFile>): void {
  const books = checker.names(["prices"], file.prices);
  for (const [name, plan] of Object.entries(blockOf(file.plans))) {
    const book = blockOf(plan).price_book;
    if (typeof book === "string") {
      checker.reference(["plans", name, "price_book"], book, "price book", books);
    }
    checkQuotas(checker, file, name);
  }
}

/** Quotas of a plan that are for chosen models: those exist and use the quota. */
function checkQuotas(checker: Checker, file: Partial<GatewayFile>, plan: string): void {
  const models = modelsById(file);
  const names = modelNamesOf(checker, file, models);
  const quotas = blockOf(blockOf(blockOf(file.plans)[plan]).quotas);
  for (const kind of USAGE_KINDS) {
    for (const [at, id] of listOf(blockOf(quotas[kind]).models).entries()) {
      if (typeof id !== "string") continue;
      const path = ["plans", plan, "quotas", kind, "models", at];
      checker.reference(path, id, "model", names);
      const type = MODEL_TYPES.find((type) => type === models.get(id)?.model.type);
      if (type !== undefined && definitionOf(type).quota !== kind) {
        checker.report(path, {
          message: `is of type ${type}, which does not use the ${kind} quota`,
        });
      }
    }
  }
}

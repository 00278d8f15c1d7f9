import { blockOf, type Checker, listOf, type Names } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";

type Keys = Record<string, unknown>;

export type ModelsById = ReadonlyMap<string, { model: Keys; index: number }>;

export function modelsById(file: Partial<GatewayFile>): ModelsById {
  const models = new Map<string, { model: Keys; index: number }>();
  for (const [index, model] of listOf(file.models).map(blockOf).entries()) {
    if (typeof model.id === "string" && !models.has(model.id)) {
      models.set(model.id, { model, index });
    }
  }
  return models;
}

/** The names that a reference to a model may use; null while one model id is invalid: it may be that one. */
export function modelNamesOf(
  checker: Checker,
  file: Partial<GatewayFile>,
  models: ModelsById,
): Names {
  if (!areAllNamed(checker, file)) return null;
  let written: string[] | undefined;
  // Suggests only ids that are written in the file: a value from the environment must not be shown.
  const keys = () =>
    written ??= [...models].filter(([id, { index }]) =>
      checker.sourceText(["models", index, "id"]) === JSON.stringify(id)
    ).map(([id]) => id);
  return { has: (id) => models.has(id), keys };
}

function areAllNamed(checker: Checker, file: Partial<GatewayFile>): boolean {
  if (!Array.isArray(file.models) || checker.isInvalid(["models"])) return false;
  return file.models.every((model, index) =>
    typeof blockOf(model).id === "string" && !checker.isInvalid(["models", index, "id"])
  );
}

import { isModelType } from "../model_types/model_types.ts";
import {
  type Config,
  isVisible,
  type Model,
  type ModelReader,
  statusAt,
} from "../platform/config/config.ts";

/** Models of the examples are those of the shipped configuration: `sim-` and the type. */
const SAMPLE_MODEL = /^sim-(\w+)$/;

/** Fields of a request that a model limits, by the limit that lists their values. */
const LIMITED: Readonly<Record<string, string>> = {
  voice: "voices",
  duration: "durations",
  size: "sizes",
  aspect_ratio: "aspect_ratios",
};

/** A value of an example, with models of this configuration and values that they offer. */
export function exampleOf(config: Config, value: unknown): unknown {
  if (typeof value === "string") return sampledModel(config, value)?.id ?? value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const model = sampledModel(config, (value as { model?: unknown }).model);
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      const offered = model?.limits[LIMITED[name] ?? ""];
      const isOther = Array.isArray(offered) && !offered.includes(part);
      return [name, isOther ? offered[0] : exampleOf(config, part)];
    }),
  );
}

function sampledModel(config: Config, name: unknown): Model | undefined {
  const type = SAMPLE_MODEL.exec(String(name))?.[1];
  return isModelType(type) ? exampleModel(config, type) : undefined;
}

/** A model that the account can use; left out: any account, which has the plan `free`. */
export function exampleModel(
  config: Config,
  type: Model["type"],
  account: ModelReader = { id: "", plan: "free" },
): Model | undefined {
  const now = Date.now();
  return [...config.models.values()].find((model) =>
    model.type === type && statusAt(model, now) !== "unavailable" && isVisible(model, account)
  );
}

import type { AnySchemaObject } from "ajv/dist/2020.js";
import { ApiError } from "../../lib/api_error.ts";
import { definitionOf, MODEL_TYPES } from "../../model_types/model_types.ts";
import { speech } from "../../model_types/speech.ts";
import type { GenerationBody } from "../../workflows/tasks/check_generation.ts";
import { bodySchema } from "../body_schema.ts";

export interface GenerationRequest {
  /** Its name in the OpenAPI document. */
  readonly title: string;
  readonly schema: AnySchemaObject;
  readonly check: (body: unknown) => GenerationBody;
}

function request(schema: AnySchemaObject): GenerationRequest {
  const checkSchema = bodySchema<GenerationBody>(schema, { nullIsAbsent: true });
  return {
    title: schema.title,
    schema,
    check(body) {
      const checked = checkSchema(body);
      checkStorable(checked, "");
      return checked;
    },
  };
}

/** Requests are stored, and the database accepts neither NUL nor half a surrogate pair. */
function checkStorable(value: unknown, at: string): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    const message =
      `${at} contains a character that cannot be stored, such as NUL or half an emoji.`;
    throw new ApiError("invalid_value", message, { param: at });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    checkStorable(part, at === "" ? name : `${at}.${name}`);
  }
}

/** Bodies of generation endpoints, by the name that a route of the configuration gives. */
export const GENERATION_REQUESTS: ReadonlyMap<string, GenerationRequest> = new Map(
  MODEL_TYPES.map(definitionOf)
    .filter(({ endpoint }) => endpoint.operation === "generation")
    .map(({ request: { name, schema } }) => [name, request(schema)]),
);

export const SPEECH_REQUEST: GenerationRequest = request(speech.request.schema);

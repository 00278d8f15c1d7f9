import type { ErrorObject } from "ajv/dist/2020.js";
import { ApiError } from "../lib/api_error.ts";
import { explainViolation, JSON_TYPES } from "../lib/json_schema/explain_violation.ts";

/** Converts a schema violation of a request body into an error that says how to fix it. */
export function toSchemaError(error: ErrorObject, body: unknown): ApiError {
  const { path, kind, key, message, suggestion } = explainViolation(error, body, {
    types: JSON_TYPES,
  });
  const param = (kind === "value" ? path : [...path, key]).join(".");
  switch (kind) {
    case "missing":
      return invalid("missing_field", param, `The field ${param} is missing.`, suggestion);
    case "unknown":
      return invalid(
        "unknown_field",
        param,
        `The field ${param} is unknown.`,
        suggestion ?? "Leave it out.",
      );
    default:
      if (param === "") {
        const text = error.keyword === "type" ? "must be a JSON object, in braces" : message;
        return new ApiError("invalid_value", `The body ${text}.`);
      }
      return invalid("invalid_value", param, `${param} ${message}.`, suggestion);
  }
}

function invalid(
  code: "missing_field" | "unknown_field" | "invalid_value",
  param: string,
  message: string,
  suggestion: string | undefined,
): ApiError {
  return new ApiError(code, suggestion === undefined ? message : `${message} ${suggestion}`, {
    param,
  });
}

import { ApiError } from "../lib/api_error.ts";

/** What went wrong with a form, and the field it is about; null where it concerns the whole form. */
export interface FormError {
  readonly message: string;
  readonly field: string | null;
}

/** The message for one field, or with null for the whole form. */
export function messageAt(error: FormError | undefined, field: string | null): string | null {
  return error?.field === field ? error.message : null;
}

/** Labels of a form's fields by their names in the API. */
export type FieldLabels = Readonly<Record<string, string>>;

/** An API error for the form that caused it. Any other error goes through. */
export function toFormError(error: unknown, labels: FieldLabels): FormError {
  if (!(error instanceof ApiError) || error.isServerError) throw error;
  return formError(error, labels);
}

/** A message of the API with the label of a form's field in place of the field's name in the API. */
export function formError(
  { message, param }: { message: string; param: string | null },
  labels: FieldLabels,
): FormError {
  if (param === null || !Object.hasOwn(labels, param)) return { message, field: null };
  const label = labels[param]!;
  const text = message
    .replace(/^The field \w+ is missing\b/, `${label} is required`)
    .split(" ").map((word) => word === param ? label : word).join(" ")
    .replace("a decimal string", "a number")
    .replace(/a date and time with its offset, such as "([\d-]+)T[^"]*"/, "a date such as $1");
  return { message: text, field: param };
}

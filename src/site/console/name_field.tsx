import { type FormError, messageAt } from "../form_error.ts";
import { Field } from "../parts.tsx";
import type { RequestForm } from "../request_form.ts";

/** The name of a key or token. */
export function NameField(
  { form, value, example, error }: {
    form: RequestForm<{ name: string }>;
    value: string | undefined;
    example: string;
    error: FormError | undefined;
  },
) {
  return (
    <Field
      name="name"
      label="Name"
      placeholder={`e.g. ${example}`}
      value={value}
      error={messageAt(error, "name")}
      {...form.limits("name")}
      autocomplete="off"
    />
  );
}

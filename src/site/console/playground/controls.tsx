import type { Child } from "hono/jsx";
import { Field, Select } from "../../parts.tsx";
import type { CatalogueModel } from "../catalogue.ts";
import type { InputsProps } from "./model_type_form.ts";
import type { Fields } from "./fields.ts";

export function Prompt({ label, details, fields }: InputsProps & { label: string }) {
  return (
    <Area
      name="prompt"
      label={label}
      rows={3}
      value={fields.prompt}
      max={limitOf(details, "max_prompt_length")}
      required
    />
  );
}

export function Area(
  { name, label, rows, value, max, required }: {
    name: string;
    label: string;
    rows: number;
    value: string | undefined;
    max?: number | undefined;
    required?: boolean;
  },
) {
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      <textarea
        class="input"
        id={`field-${name}`}
        name={name}
        rows={rows}
        maxlength={max}
        required={required}
      >
        {value}
      </textarea>
    </div>
  );
}

export function Images({ label, fields }: { label: string; fields: Fields }) {
  return (
    <div class="grid field-grid-wide">
      <Field
        name="input_images"
        label={`${label} (optional)`}
        placeholder="https://…"
        hint="A public URL, or the ID of an uploaded file."
        value={fields.input_images}
      />
      <div class="field only-scripted">
        <label for="file-input_images">Or upload an image</label>
        <input
          class="input"
          id="file-input_images"
          type="file"
          accept="image/*"
          data-upload="input_images"
        />
      </div>
    </div>
  );
}

/** A file is uploaded on its own; the form sends its id. */
export function Upload({ name, label, accept }: { name: string; label: string; accept: string }) {
  return (
    <div class="field">
      <label for={`file-${name}`}>{label}</label>
      <input class="input" id={`file-${name}`} type="file" accept={accept} data-upload={name} />
      <input type="hidden" name={name} />
    </div>
  );
}

export function Ratio({ label, details, fields }: InputsProps & { label: string }) {
  return (
    <LimitSelect
      details={details}
      limit="aspect_ratios"
      name="aspect_ratio"
      label={label}
      fields={fields}
    />
  );
}

/** A choice among the values of a limit; nothing where the model has no such limit. */
export function LimitSelect(
  { details, limit, name, label, fields, text = String, skip }: {
    details: CatalogueModel;
    limit: string;
    name: string;
    label: string;
    fields: Fields;
    text?: (value: string | number) => string;
    skip?: string;
  },
) {
  const values = details.limits[limit];
  if (!Array.isArray(values)) return null;
  const options = values.filter((value) => value !== skip)
    .map((value) => [String(value), text(value)] as const);
  return (
    <Select
      name={name}
      label={label}
      options={options}
      value={fields[name] ?? options[0]?.[0]}
    />
  );
}

export function ControlRow({ children }: { children: Child }) {
  return <div class="grid field-grid">{children}</div>;
}

export function limitOf(details: CatalogueModel, name: string): number | undefined {
  const value = details.limits[name];
  return typeof value === "number" ? value : undefined;
}

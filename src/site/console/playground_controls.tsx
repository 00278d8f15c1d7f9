import type { Child } from "hono/jsx";
import { Field, Select } from "../parts.tsx";
import type { CatalogueModel } from "./catalogue.ts";
import type { Fields } from "./playground_body.ts";

export function Prompt({ shown, fields }: { shown: CatalogueModel; fields: Fields }) {
  return (
    <Area
      name="prompt"
      label="Prompt"
      rows={3}
      value={fields.prompt}
      max={limitOf(shown, "max_prompt_length")}
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

export function Images({ fields }: { fields: Fields }) {
  return (
    <div class="grid field-grid-wide">
      <Field
        name="input_images"
        label="Picture to start from, if any"
        placeholder="https://…"
        hint="A public address, or the id of an uploaded file."
        value={fields.input_images}
      />
      <div class="field only-scripted">
        <label for="file-input_images">Or upload one</label>
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

/** A file goes to the gateway by itself; the form sends its id. */
export function Upload({ name, label, accept }: { name: string; label: string; accept: string }) {
  return (
    <div class="field">
      <label for={`file-${name}`}>{label}</label>
      <input class="input" id={`file-${name}`} type="file" accept={accept} data-upload={name} />
      <input type="hidden" name={name} />
    </div>
  );
}

export function Ratio({ shown, fields }: { shown: CatalogueModel; fields: Fields }) {
  return (
    <Pick
      shown={shown}
      limit="aspect_ratios"
      name="aspect_ratio"
      label="Aspect ratio"
      fields={fields}
    />
  );
}

/** A choice among what the model declares; nothing where it declares nothing. */
export function Pick(
  { shown, limit, name, label, fields, word = String, skip }: {
    shown: CatalogueModel;
    limit: string;
    name: string;
    label: string;
    fields: Fields;
    word?: (value: string | number) => string;
    skip?: string;
  },
) {
  const values = shown.limits[limit];
  if (!Array.isArray(values)) return null;
  const options = values.filter((value) => value !== skip)
    .map((value) => [String(value), word(value)] as const);
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

export function limitOf(shown: CatalogueModel, name: string): number | undefined {
  const value = shown.limits[name];
  return typeof value === "number" ? value : undefined;
}

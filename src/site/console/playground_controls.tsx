import type { Child } from "hono/jsx";
import { Field, Select } from "../parts.tsx";
import type { FieldLabels } from "../form_error.ts";
import type { CatalogueModel } from "./catalogue.ts";
import type { Fields } from "./playground_body.ts";

/** Labels of the playground's fields by their names in the API, for error messages. */
export const FIELD_LABELS: FieldLabels = {
  prompt: "Prompt",
  messages: "Message",
  system: "System message",
  temperature: "Temperature",
  max_completion_tokens: "Max output tokens",
  size: "Size",
  n: "Number of images",
  input_images: "Input image",
  duration: "Duration",
  aspect_ratio: "Aspect ratio",
  avatar_file_id: "Portrait image",
  audio_file_id: "Audio",
  title: "Title",
  script: "Story",
  stage: "Last stage",
  episode: "Episode",
  from_task: "Continue from task",
  input: "Text",
  voice: "Voice",
  response_format: "Format",
  speed: "Speed",
};

export function Prompt({ details, fields }: { details: CatalogueModel; fields: Fields }) {
  return (
    <Area
      name="prompt"
      label={FIELD_LABELS.prompt!}
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

export function Images({ fields }: { fields: Fields }) {
  return (
    <div class="grid field-grid-wide">
      <Field
        name="input_images"
        label="Input image (optional)"
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

export function Ratio({ details, fields }: { details: CatalogueModel; fields: Fields }) {
  return (
    <LimitSelect
      details={details}
      limit="aspect_ratios"
      name="aspect_ratio"
      label={FIELD_LABELS.aspect_ratio!}
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

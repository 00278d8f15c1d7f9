import type { Child } from "hono/jsx";
import { Field, Select } from "../parts.tsx";
import type { ShownModel } from "./catalogue.ts";
import type { Fields } from "./playground_body.ts";

/** What a model of this type is asked with: its own limits as choices. */
export function Inputs({ shown, fields }: { shown: ShownModel; fields: Fields }) {
  switch (shown.type) {
    case "chat":
      return <ChatInputs shown={shown} fields={fields} />;
    case "image":
      return (
        <>
          <Prompt shown={shown} fields={fields} />
          <Row>
            <Pick shown={shown} limit="sizes" name="size" label="Size" fields={fields} />
            <Field
              name="n"
              label="How many"
              type="number"
              min="1"
              max={limitOf(shown, "max_count") ?? 10}
              value={fields.n ?? "1"}
            />
          </Row>
          {shown.capabilities.includes("image_to_image") && <Images fields={fields} />}
        </>
      );
    case "video":
      return (
        <>
          <Prompt shown={shown} fields={fields} />
          <Row>
            <Pick
              shown={shown}
              limit="durations"
              name="duration"
              label="Length"
              fields={fields}
              word={(value) => `${value} seconds`}
            />
            <Ratio shown={shown} fields={fields} />
          </Row>
          {shown.capabilities.includes("image_to_video") && <Images fields={fields} />}
        </>
      );
    case "avatar":
      return (
        <>
          <Upload name="avatar_file_id" label="Picture of a person" accept="image/*" />
          <Upload name="audio_file_id" label="What is said" accept="audio/*" />
          <Row>
            <Ratio shown={shown} fields={fields} />
          </Row>
          <p class="only-unscripted small soft">
            Uploads here need scripts. Without them, send files to the API and use their ids.
          </p>
        </>
      );
    case "drama":
      return <DramaInputs shown={shown} fields={fields} />;
    case "speech":
      return <SpeechInputs shown={shown} fields={fields} />;
  }
}

function ChatInputs({ shown, fields }: { shown: ShownModel; fields: Fields }) {
  return (
    <>
      <div class="field">
        <label for="field-prompt">Your message</label>
        <textarea class="input" id="field-prompt" name="prompt" rows={3} required>
          {fields.prompt}
        </textarea>
        <div class="hint only-scripted">Enter sends, Shift and Enter begins a line.</div>
      </div>
      <details class="disclosure">
        <summary>Settings</summary>
        <div class="stack">
          <Area name="system" label="System message" rows={2} value={fields.system} />
          <Row>
            <Field
              name="temperature"
              label="Temperature"
              type="number"
              min="0"
              max="2"
              step="0.1"
              placeholder="the model's own"
              value={fields.temperature}
            />
            <Field
              name="max_completion_tokens"
              label="Longest answer, in tokens"
              type="number"
              min="1"
              max={limitOf(shown, "max_output_tokens")}
              placeholder={limitOf(shown, "max_output_tokens")}
              value={fields.max_completion_tokens}
            />
          </Row>
        </div>
      </details>
    </>
  );
}

function DramaInputs({ shown, fields }: { shown: ShownModel; fields: Fields }) {
  return (
    <>
      <Field name="title" label="Title" value={fields.title} required />
      <Area
        name="script"
        label="What it is about"
        rows={5}
        value={fields.script}
        max={limitOf(shown, "max_prompt_length")}
      />
      <Row>
        <Select
          name="stage"
          label="How far"
          value={fields.stage ?? "script"}
          options={[
            ["script", "Script"],
            ["roles", "Roles"],
            ["storyboard", "Storyboard"],
            ["video", "Final video (needs a webhook)"],
            ["", "Everything (needs a webhook)"],
          ]}
        />
        <Ratio shown={shown} fields={fields} />
        <Field name="episode" label="Episode" type="number" min="1" value={fields.episode ?? "1"} />
      </Row>
    </>
  );
}

function SpeechInputs({ shown, fields }: { shown: ShownModel; fields: Fields }) {
  return (
    <>
      <Area
        name="input"
        label="What to say"
        rows={4}
        value={fields.input}
        max={limitOf(shown, "max_prompt_length")}
        required
      />
      <Row>
        <Pick shown={shown} limit="voices" name="voice" label="Voice" fields={fields} />
        <Pick
          shown={shown}
          limit="formats"
          name="response_format"
          label="Format"
          fields={fields}
          // A browser cannot play bare samples.
          skip="pcm"
        />
        <Field
          name="speed"
          label="Speed"
          type="number"
          min="0.25"
          max="4"
          step="0.05"
          value={fields.speed ?? "1"}
        />
      </Row>
    </>
  );
}

function Prompt({ shown, fields }: { shown: ShownModel; fields: Fields }) {
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

function Area(
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

function Images({ fields }: { fields: Fields }) {
  return (
    <Field
      name="input_images"
      label="Picture to start from"
      type="url"
      placeholder="https://…"
      hint="The address of a public picture; leave it empty to start from words."
      value={fields.input_images}
    />
  );
}

/** A file goes to the gateway by itself; the form sends its id. */
function Upload({ name, label, accept }: { name: string; label: string; accept: string }) {
  return (
    <div class="field">
      <label for={`file-${name}`}>{label}</label>
      <input class="input" id={`file-${name}`} type="file" accept={accept} data-upload={name} />
      <input type="hidden" name={name} />
    </div>
  );
}

function Ratio({ shown, fields }: { shown: ShownModel; fields: Fields }) {
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
function Pick(
  { shown, limit, name, label, fields, word = String, skip }: {
    shown: ShownModel;
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

function Row({ children }: { children: Child }) {
  return <div class="grid field-grid">{children}</div>;
}

function limitOf(shown: ShownModel, name: string): number | undefined {
  const value = shown.limits[name];
  return typeof value === "number" ? value : undefined;
}

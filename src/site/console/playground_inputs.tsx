import { Field, Select } from "../parts.tsx";
import type { CatalogueModel } from "./catalogue.ts";
import type { Fields } from "./playground_body.ts";
import {
  Area,
  ControlRow,
  Images,
  limitOf,
  LimitSelect,
  Prompt,
  Ratio,
  Upload,
} from "./playground_controls.tsx";

/** The fields for a model of this type, with its limits as choices. */
export function Inputs({ details, fields }: { details: CatalogueModel; fields: Fields }) {
  switch (details.type) {
    case "chat":
      return <ChatInputs details={details} fields={fields} />;
    case "image":
      return (
        <>
          <Prompt details={details} fields={fields} />
          <ControlRow>
            <LimitSelect details={details} limit="sizes" name="size" label="Size" fields={fields} />
            <Field
              name="n"
              label="Number of images"
              type="number"
              min="1"
              max={limitOf(details, "max_count") ?? 10}
              value={fields.n ?? "1"}
            />
          </ControlRow>
          {details.capabilities.includes("image_to_image") && <Images fields={fields} />}
        </>
      );
    case "video":
      return (
        <>
          <Prompt details={details} fields={fields} />
          <ControlRow>
            <LimitSelect
              details={details}
              limit="durations"
              name="duration"
              label="Duration"
              fields={fields}
              text={(value) => `${value} seconds`}
            />
            <Ratio details={details} fields={fields} />
          </ControlRow>
          {details.capabilities.includes("image_to_video") && <Images fields={fields} />}
        </>
      );
    case "avatar":
      return (
        <>
          <Upload name="avatar_file_id" label="Portrait image" accept="image/*" />
          <Upload name="audio_file_id" label="Audio" accept="audio/*" />
          <ControlRow>
            <Ratio details={details} fields={fields} />
          </ControlRow>
          <p class="only-unscripted small soft">
            Uploads on this page need JavaScript. Without it, use the API.
          </p>
        </>
      );
    case "drama":
      return <DramaInputs details={details} fields={fields} />;
    case "speech":
      return <SpeechInputs details={details} fields={fields} />;
  }
}

function ChatInputs({ details, fields }: { details: CatalogueModel; fields: Fields }) {
  return (
    <>
      <div class="field">
        <label for="field-prompt">Your message</label>
        <textarea class="input" id="field-prompt" name="prompt" rows={3} required>
          {fields.prompt}
        </textarea>
        <div class="hint only-scripted">Enter to send, Shift+Enter for a new line</div>
      </div>
      <details class="disclosure">
        <summary>Settings</summary>
        <div class="stack">
          <Area name="system" label="System message" rows={2} value={fields.system} />
          <ControlRow>
            <Field
              name="temperature"
              label="Temperature"
              type="number"
              min="0"
              max="2"
              step="0.1"
              placeholder="Default"
              value={fields.temperature}
            />
            <Field
              name="max_completion_tokens"
              label="Max output tokens"
              type="number"
              min="1"
              max={limitOf(details, "max_output_tokens")}
              placeholder={limitOf(details, "max_output_tokens")}
              value={fields.max_completion_tokens}
            />
          </ControlRow>
        </div>
      </details>
    </>
  );
}

function DramaInputs({ details, fields }: { details: CatalogueModel; fields: Fields }) {
  return (
    <>
      <Field name="title" label="Title" value={fields.title} maxlength={300} />
      <Area
        name="script"
        label="Story"
        rows={5}
        value={fields.script}
        max={limitOf(details, "max_prompt_length")}
      />
      <ControlRow>
        <Select
          name="stage"
          label="Last stage"
          value={fields.stage ?? "script"}
          options={[
            ["script", "Script"],
            ["roles", "Roles"],
            ["storyboard", "Storyboard"],
            ["video", "Final video"],
          ]}
        />
        <Ratio details={details} fields={fields} />
        <Field name="episode" label="Episode" type="number" min="1" value={fields.episode ?? "1"} />
      </ControlRow>
      <p class="hint">
        A final video requires a <a href="/console/webhooks">webhook endpoint</a>: it takes long.
      </p>
      <Field
        name="from_task"
        label="Continue from task (optional)"
        placeholder="task_…"
        hint="Stages that an earlier drama has finished are reused and not charged again."
        value={fields.from_task}
      />
    </>
  );
}

function SpeechInputs({ details, fields }: { details: CatalogueModel; fields: Fields }) {
  return (
    <>
      <Area
        name="input"
        label="Text"
        rows={4}
        value={fields.input}
        max={limitOf(details, "max_prompt_length")}
        required
      />
      <ControlRow>
        <LimitSelect details={details} limit="voices" name="voice" label="Voice" fields={fields} />
        <LimitSelect
          details={details}
          limit="formats"
          name="response_format"
          label="Format"
          fields={fields}
          // Browsers cannot play raw samples.
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
      </ControlRow>
    </>
  );
}

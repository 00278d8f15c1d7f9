import { Field, Select } from "../parts.tsx";
import type { CatalogueModel } from "./catalogue.ts";
import type { Fields } from "./playground_body.ts";
import {
  Area,
  ControlRow,
  Images,
  limitOf,
  Pick,
  Prompt,
  Ratio,
  Upload,
} from "./playground_controls.tsx";

/** What a model of this type is asked with: its own limits as choices. */
export function Inputs({ shown, fields }: { shown: CatalogueModel; fields: Fields }) {
  switch (shown.type) {
    case "chat":
      return <ChatInputs shown={shown} fields={fields} />;
    case "image":
      return (
        <>
          <Prompt shown={shown} fields={fields} />
          <ControlRow>
            <Pick shown={shown} limit="sizes" name="size" label="Size" fields={fields} />
            <Field
              name="n"
              label="How many"
              type="number"
              min="1"
              max={limitOf(shown, "max_count") ?? 10}
              value={fields.n ?? "1"}
            />
          </ControlRow>
          {shown.capabilities.includes("image_to_image") && <Images fields={fields} />}
        </>
      );
    case "video":
      return (
        <>
          <Prompt shown={shown} fields={fields} />
          <ControlRow>
            <Pick
              shown={shown}
              limit="durations"
              name="duration"
              label="Length"
              fields={fields}
              word={(value) => `${value} seconds`}
            />
            <Ratio shown={shown} fields={fields} />
          </ControlRow>
          {shown.capabilities.includes("image_to_video") && <Images fields={fields} />}
        </>
      );
    case "avatar":
      return (
        <>
          <Upload name="avatar_file_id" label="Picture of a person" accept="image/*" />
          <Upload name="audio_file_id" label="What is said" accept="audio/*" />
          <ControlRow>
            <Ratio shown={shown} fields={fields} />
          </ControlRow>
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

function ChatInputs({ shown, fields }: { shown: CatalogueModel; fields: Fields }) {
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
          <ControlRow>
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
          </ControlRow>
        </div>
      </details>
    </>
  );
}

function DramaInputs({ shown, fields }: { shown: CatalogueModel; fields: Fields }) {
  return (
    <>
      <Field name="title" label="Title" value={fields.title} maxlength={300} />
      <Area
        name="script"
        label="What it is about"
        rows={5}
        value={fields.script}
        max={limitOf(shown, "max_prompt_length")}
      />
      <ControlRow>
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
      </ControlRow>
      <Field
        name="from_task"
        label="Go on from a task, if any"
        placeholder="task_…"
        hint="What an earlier drama has finished is neither made nor paid for again."
        value={fields.from_task}
      />
    </>
  );
}

function SpeechInputs({ shown, fields }: { shown: CatalogueModel; fields: Fields }) {
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
      <ControlRow>
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
      </ControlRow>
    </>
  );
}

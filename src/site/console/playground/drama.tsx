import { drama, DRAMA_STAGES, type DramaStage } from "../../../model_types/drama.ts";
import { Field, Select } from "../../parts.tsx";
import { inputLimits } from "../../request_form.ts";
import { Area, ControlRow, limitOf, Ratio } from "./controls.tsx";
import type { InputsProps, ModelTypeForm } from "./model_type_form.ts";
import { numberField, textField } from "./fields.ts";

const labels = {
  title: "Title",
  script: "Story",
  stage: "Last stage",
  aspect_ratio: "Aspect ratio",
  episode: "Episode",
  from_task: "Continue from task",
};

const STAGE_NAMES: Readonly<Record<DramaStage, string>> = {
  script: "Script",
  roles: "Roles",
  storyboard: "Storyboard",
  video: "Final video",
};

export const dramaForm: ModelTypeForm = {
  title: "Dramas",
  icon: "M4 8.5h16V19H4zM4 8.5l2.5-4h3L7 8.5M11 8.5l2.5-4h3L14 8.5M18 8.5l2-3.2",
  result: "task",
  labels,
  Inputs: DramaInputs,
  body: (fields) => ({
    title: textField(fields.title),
    script: textField(fields.script),
    episode: numberField(fields.episode),
    aspect_ratio: textField(fields.aspect_ratio),
    stage: textField(fields.stage),
    from_task: textField(fields.from_task),
    business_id: textField(fields.business_id),
  }),
  example: (first) => ({
    title: "The lighthouse",
    script: "A lighthouse keeper finds a letter.",
    stage: "script",
    aspect_ratio: first("aspect_ratios"),
    business_id: "my-own-id-1",
  }),
};

function DramaInputs({ details, fields }: InputsProps) {
  const { schema } = drama.request;
  return (
    <>
      <Field
        name="title"
        label={labels.title}
        value={fields.title}
        {...inputLimits(schema, "title")}
      />
      <Area
        name="script"
        label={labels.script}
        rows={5}
        value={fields.script}
        max={limitOf(details, "max_prompt_length")}
      />
      <ControlRow>
        <Select
          name="stage"
          label={labels.stage}
          value={fields.stage ?? "script"}
          options={DRAMA_STAGES.map((stage) => [stage, STAGE_NAMES[stage]])}
        />
        <Ratio label={labels.aspect_ratio} details={details} fields={fields} />
        <Field
          name="episode"
          label={labels.episode}
          type="number"
          {...inputLimits(schema, "episode")}
          value={fields.episode ?? "1"}
        />
      </ControlRow>
      <p class="hint">
        A final video requires a <a href="/console/webhooks">webhook endpoint</a>: it takes long.
      </p>
      <Field
        name="from_task"
        label={`${labels.from_task} (optional)`}
        placeholder="task_…"
        hint="Stages that an earlier drama has finished are reused and not charged again."
        value={fields.from_task}
      />
    </>
  );
}

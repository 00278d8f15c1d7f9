import { speech } from "../../../model_types/speech.ts";
import { Field } from "../../parts.tsx";
import { inputLimits } from "../../request_form.ts";
import { Area, ControlRow, limitOf, LimitSelect } from "./controls.tsx";
import type { InputsProps, ModelTypeForm } from "./model_type_form.ts";
import { numberField, textField } from "./fields.ts";

const labels = {
  input: "Text",
  voice: "Voice",
  response_format: "Format",
  speed: "Speed",
};

export const speechForm: ModelTypeForm = {
  title: "Speech",
  icon: "M5 10v4M9 7v10M13 4.5v15M17 8v8M20.5 10.5v3",
  result: "file",
  labels,
  Inputs: SpeechInputs,
  body: (fields) => ({
    input: fields.input ?? "",
    voice: textField(fields.voice),
    response_format: textField(fields.response_format),
    speed: numberField(fields.speed),
  }),
  example: (first) => ({
    input: "Good morning.",
    voice: first("voices"),
    response_format: first("formats"),
  }),
};

function SpeechInputs({ details, fields }: InputsProps) {
  return (
    <>
      <Area
        name="input"
        label={labels.input}
        rows={4}
        value={fields.input}
        max={limitOf(details, "max_prompt_length")}
        required
      />
      <ControlRow>
        <LimitSelect
          details={details}
          limit="voices"
          name="voice"
          label={labels.voice}
          fields={fields}
        />
        <LimitSelect
          details={details}
          limit="formats"
          name="response_format"
          label={labels.response_format}
          fields={fields}
          // Browsers cannot play raw samples.
          skip="pcm"
        />
        <Field
          name="speed"
          label={labels.speed}
          type="number"
          {...inputLimits(speech.request.schema, "speed")}
          step="0.05"
          value={fields.speed ?? "1"}
        />
      </ControlRow>
    </>
  );
}

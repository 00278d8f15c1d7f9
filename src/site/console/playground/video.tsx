import { ControlRow, Images, LimitSelect, Prompt, Ratio } from "./controls.tsx";
import type { InputsProps, ModelTypeForm } from "./model_type_form.ts";
import { listField, numberField, textField } from "./fields.ts";

const labels = {
  prompt: "Prompt",
  duration: "Duration",
  resolution: "Resolution",
  aspect_ratio: "Aspect ratio",
  input_images: "Input image",
};

export const videoForm: ModelTypeForm = {
  title: "Video",
  icon: "M4 6h11v12H4zM15 10.5 20 8v8l-5-2.5z",
  result: "task",
  labels,
  Inputs: VideoInputs,
  body: (fields) => ({
    prompt: fields.prompt ?? "",
    duration: numberField(fields.duration),
    resolution: textField(fields.resolution),
    aspect_ratio: textField(fields.aspect_ratio),
    input_images: listField(fields.input_images),
  }),
  example: (first) => ({
    prompt: "A lighthouse in the rain",
    duration: first("durations"),
    aspect_ratio: first("aspect_ratios"),
  }),
};

function VideoInputs({ details, fields }: InputsProps) {
  return (
    <>
      <Prompt label={labels.prompt} details={details} fields={fields} />
      <ControlRow>
        <LimitSelect
          details={details}
          limit="durations"
          name="duration"
          label={labels.duration}
          fields={fields}
          text={(value) => `${value} seconds`}
        />
        <LimitSelect
          details={details}
          limit="resolutions"
          name="resolution"
          label={labels.resolution}
          fields={fields}
        />
        <Ratio label={labels.aspect_ratio} details={details} fields={fields} />
      </ControlRow>
      {details.capabilities.includes("image_to_video") && (
        <Images label={labels.input_images} fields={fields} />
      )}
    </>
  );
}

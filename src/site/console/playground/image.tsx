import { image } from "../../../model_types/image.ts";
import { Field } from "../../parts.tsx";
import { inputLimits } from "../../request_form.ts";
import { ControlRow, Images, limitOf, LimitSelect, Prompt } from "./controls.tsx";
import type { InputsProps, ModelTypeForm } from "./model_type_form.ts";
import { listField, numberField, textField } from "./fields.ts";

const labels = {
  prompt: "Prompt",
  size: "Size",
  quality: "Quality",
  n: "Number of images",
  input_images: "Input image",
};

export const imageForm: ModelTypeForm = {
  title: "Images",
  icon: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.2h.01",
  result: "task",
  labels,
  Inputs: ImageInputs,
  body: (fields) => ({
    prompt: fields.prompt ?? "",
    size: textField(fields.size),
    quality: textField(fields.quality),
    n: numberField(fields.n),
    input_images: listField(fields.input_images),
  }),
  example: (first) => ({ prompt: "A lighthouse in the rain", size: first("sizes") }),
};

function ImageInputs({ details, fields }: InputsProps) {
  const { max, ...limits } = inputLimits(image.request.schema, "n");
  return (
    <>
      <Prompt label={labels.prompt} details={details} fields={fields} />
      <ControlRow>
        <LimitSelect
          details={details}
          limit="sizes"
          name="size"
          label={labels.size}
          fields={fields}
        />
        <LimitSelect
          details={details}
          limit="qualities"
          name="quality"
          label={labels.quality}
          fields={fields}
        />
        <Field
          name="n"
          label={labels.n}
          type="number"
          {...limits}
          max={limitOf(details, "max_count") ?? max}
          value={fields.n ?? "1"}
        />
      </ControlRow>
      {details.capabilities.includes("image_to_image") && (
        <Images label={labels.input_images} fields={fields} />
      )}
    </>
  );
}

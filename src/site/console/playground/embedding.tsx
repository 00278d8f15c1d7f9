import { embedding } from "../../../model_types/embedding.ts";
import { Field } from "../../parts.tsx";
import { inputLimits } from "../../request_form.ts";
import { Area, ControlRow, limitOf } from "./controls.tsx";
import type { InputsProps, ModelTypeForm } from "./model_type_form.ts";
import { numberField } from "./fields.ts";

const labels = {
  input: "Text",
  dimensions: "Dimensions",
};

export const embeddingForm: ModelTypeForm = {
  title: "Embedding",
  icon: "M4 20V4M4 20h16M4 20l9-9M13 11v4M13 11h-4M18 7h.01",
  result: "vectors",
  labels,
  Inputs: EmbeddingInputs,
  body: (fields) => ({
    input: fields.input ?? "",
    dimensions: numberField(fields.dimensions),
  }),
  example: () => ({ input: "The gate is open." }),
};

function EmbeddingInputs({ details, fields }: InputsProps) {
  const dimensionsMax = limitOf(details, "max_dimensions");
  return (
    <>
      <Area name="input" label={labels.input} rows={4} value={fields.input} required />
      {dimensionsMax !== undefined && (
        <ControlRow>
          <Field
            name="dimensions"
            label={labels.dimensions}
            type="number"
            {...inputLimits(embedding.request.schema, "dimensions")}
            max={dimensionsMax}
            placeholder="Default"
            value={fields.dimensions}
          />
        </ControlRow>
      )}
    </>
  );
}

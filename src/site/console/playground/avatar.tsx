import { ControlRow, Ratio, Upload } from "./controls.tsx";
import type { InputsProps, ModelTypeForm } from "./model_type_form.ts";
import { textField } from "./fields.ts";

const labels = {
  avatar_file_id: "Portrait image",
  audio_file_id: "Audio",
  aspect_ratio: "Aspect ratio",
};

export const avatarForm: ModelTypeForm = {
  title: "Avatars",
  icon: "M12 12a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM5 20c.6-3.6 3.4-5.5 7-5.5s6.4 1.9 7 5.5",
  result: "task",
  labels,
  Inputs: AvatarInputs,
  body: (fields) => ({
    avatar_file_id: textField(fields.avatar_file_id),
    audio_file_id: textField(fields.audio_file_id),
    aspect_ratio: textField(fields.aspect_ratio),
  }),
  example: (first) => ({
    avatar_file_id: "file_…",
    audio_file_id: "file_…",
    aspect_ratio: first("aspect_ratios"),
  }),
};

function AvatarInputs({ details, fields }: InputsProps) {
  return (
    <>
      <Upload name="avatar_file_id" label={labels.avatar_file_id} accept="image/*" />
      <Upload name="audio_file_id" label={labels.audio_file_id} accept="audio/*" />
      <ControlRow>
        <Ratio label={labels.aspect_ratio} details={details} fields={fields} />
      </ControlRow>
      <p class="only-unscripted small soft">
        Uploads on this page need JavaScript. Without it, use the API.
      </p>
    </>
  );
}

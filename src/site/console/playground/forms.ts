import type { ModelType } from "../../../model_types/model_types.ts";
import type { Model } from "../../../platform/config/config.ts";
import { avatarForm } from "./avatar.tsx";
import { chatForm } from "./chat.tsx";
import { dramaForm } from "./drama.tsx";
import { embeddingForm } from "./embedding.tsx";
import { imageForm } from "./image.tsx";
import type { ModelTypeForm } from "./model_type_form.ts";
import type { Body, Fields } from "./fields.ts";
import { speechForm } from "./speech.tsx";
import { videoForm } from "./video.tsx";

export const FORMS: Readonly<Record<ModelType, ModelTypeForm>> = {
  chat: chatForm,
  image: imageForm,
  video: videoForm,
  avatar: avatarForm,
  drama: dramaForm,
  speech: speechForm,
  embedding: embeddingForm,
};

/** The API request of a playground form. */
export function bodyOf(model: Model, fields: Fields): Body {
  const body = FORMS[model.type].body(fields);
  return Object.fromEntries(
    Object.entries({ model: model.id, ...body }).filter(([, value]) => value !== undefined),
  );
}

import type { ModelType } from "../../model_types/model_types.ts";
import { FORMS } from "./playground/forms.ts";

export function TypeMark({ type }: { type: ModelType }) {
  return (
    <span class={`type-mark type-mark-${type}`} aria-hidden="true">
      <svg
        viewBox="0 0 24 24"
        width="20"
        height="20"
        fill="none"
        stroke="currentColor"
        stroke-width="1.7"
        stroke-linecap="round"
        stroke-linejoin="round"
      >
        <path d={FORMS[type].icon} />
      </svg>
    </span>
  );
}

import type { ModelType } from "../../lib/model_types.ts";

/** Icons of the model types. */
const PATHS: Readonly<Record<ModelType, string>> = {
  chat: "M4 5.5h16v10H11l-4.5 4v-4H4z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.2h.01",
  video: "M4 6h11v12H4zM15 10.5 20 8v8l-5-2.5z",
  avatar: "M12 12a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM5 20c.6-3.6 3.4-5.5 7-5.5s6.4 1.9 7 5.5",
  drama: "M4 8.5h16V19H4zM4 8.5l2.5-4h3L7 8.5M11 8.5l2.5-4h3L14 8.5M18 8.5l2-3.2",
  speech: "M5 10v4M9 7v10M13 4.5v15M17 8v8M20.5 10.5v3",
};

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
        <path d={PATHS[type]} />
      </svg>
    </span>
  );
}

import { CopyButton } from "../parts.tsx";

/** A secret to copy. */
export function SecretText({ id, label, text }: { id: string; label: string; text: string }) {
  return (
    <div class="secret">
      <code id={id} aria-label={label}>{text}</code>
      <CopyButton target={`#${id}`} />
    </div>
  );
}

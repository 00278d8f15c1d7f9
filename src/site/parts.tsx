import type { Child } from "hono/jsx";
import type { Flash, SiteContext } from "./context.ts";

/** The pieces pages are put together from. Their looks are in styles/controls.css and parts.css. */

export function Notice(
  { kind, role, children }: { kind: Flash["kind"]; role?: "status" | "alert"; children: Child },
) {
  return <div class={`notice notice-${kind}`} role={role}>{children}</div>;
}

/** A form that changes something: always POST, always with the session's token. */
export function Form(
  { c, action, children, class: name = "form", ...rest }: {
    c: SiteContext;
    action: string;
    class?: string;
    children: Child;
    [attribute: string]: unknown;
  },
) {
  return (
    <form method="post" action={action} class={name} {...rest}>
      <CsrfField c={c} />
      {children}
    </form>
  );
}

export function CsrfField({ c }: { c: SiteContext }) {
  return c.var.csrf === "" ? null : <input type="hidden" name="csrf" value={c.var.csrf} />;
}

export interface FieldProps {
  name: string;
  label: string;
  hint?: Child;
  fault?: string | null | undefined;
  /** Attributes of the input: type, value, required, autocomplete … */
  [attribute: string]: unknown;
}

/** A labelled input; what is wrong with it is said beside it and to a screen reader. */
export function Field({ name, label, hint, fault, ...input }: FieldProps) {
  const id = `field-${name}`;
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        class="input"
        id={id}
        name={name}
        aria-invalid={fault ? "true" : undefined}
        aria-describedby={described || undefined}
        {...input}
      />
      {hint && <div class="hint" id={`${id}-hint`}>{hint}</div>}
      {fault && <div class="fault" id={`${id}-fault`}>{fault}</div>}
    </div>
  );
}

export function Select(
  { name, label, options, value, ...rest }: {
    name: string;
    label: string;
    options: readonly (readonly [value: string, text: string])[];
    value?: string | undefined;
    [attribute: string]: unknown;
  },
) {
  const id = `field-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select class="input" id={id} name={name} {...rest}>
        {options.map(([each, text]) => (
          <option value={each} selected={each === value}>{text}</option>
        ))}
      </select>
    </div>
  );
}

export function Badge(
  { kind, dot = false, children }: {
    kind?: "good" | "warn" | "bad" | "info";
    dot?: boolean;
    children: Child;
  },
) {
  return (
    <span class={`badge${kind ? ` badge-${kind}` : ""}${dot ? " badge-dot" : ""}`}>{children}</span>
  );
}

/** Nothing there yet, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Text to take along. The button appears when its script has loaded. */
export function CodeBox({ id, text, title }: { id: string; text: string; title?: string }) {
  return (
    <div class="code-box">
      {title && <div class="code-title">{title}</div>}
      <pre id={id} tabindex={0} aria-label={title ?? "Code"} role="region"><code>{text}</code></pre>
      <CopyButton target={`#${id}`} />
    </div>
  );
}

export function CopyButton({ target, label = "Copy" }: { target: string; label?: string }) {
  return (
    <button type="button" class="button button-small copy-button" data-copy={target}>
      <span data-copy-label aria-live="polite">{label}</span>
    </button>
  );
}

export function PageHead({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
      </div>
      {children}
    </div>
  );
}

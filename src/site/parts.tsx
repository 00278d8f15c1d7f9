import type { Child } from "hono/jsx";
import { PASSWORD_LENGTH } from "../domain/accounts/passwords.ts";
import type { Flash, SiteContext } from "./context.ts";
import { readableName } from "./readable_name.ts";

/** Components that all pages share. Their styles are in styles/controls.css and parts.css. */

/** The text is one block, so that links and code in it stay in their line. */
export function Notice(
  { kind, role, title, children }: {
    kind: Flash["kind"];
    role?: "status" | "alert";
    title?: Child;
    children?: Child;
  },
) {
  return (
    <div class={`notice notice-${kind}`} role={role}>
      {title && <strong>{title}</strong>}
      {children && <div>{children}</div>}
    </div>
  );
}

/** A form that changes something: POST, with the session's token. */
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
  error?: string | null | undefined;
  /** Attributes of the input: type, value, required, autocomplete … */
  [attribute: string]: unknown;
}

/** A labelled input. Its error stands below it and is announced by screen readers. */
export function Field({ name, label, hint, error, ...input }: FieldProps) {
  const id = `field-${name}`;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        class="input"
        id={id}
        name={name}
        aria-invalid={error ? "true" : undefined}
        aria-describedby={described || undefined}
        {...input}
      />
      {hint && <div class="hint" id={`${id}-hint`}>{hint}</div>}
      {error && <div class="field-error" id={`${id}-error`}>{error}</div>}
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

/** A `Select` of a filter: the first option, `all`, does not filter. */
export function FilterSelect(
  { all, values, ...select }: {
    name: string;
    label: string;
    all: string;
    values: readonly string[];
    value?: string | undefined;
  },
) {
  const options = values.map((each) => [each, readableName(each)] as const);
  return <Select {...select} options={[["", all], ...options]} />;
}

/** A field for a new password, with the length that the server checks. */
export function NewPasswordField(
  { label, hint, error }: { label: string; hint: string; error: string | null | undefined },
) {
  return (
    <Field
      name="password"
      label={label}
      type="password"
      required
      minlength={PASSWORD_LENGTH.min}
      maxlength={PASSWORD_LENGTH.max}
      autocomplete="new-password"
      hint={`At least ${PASSWORD_LENGTH.min} characters. ${hint}`}
      error={error}
    />
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

/** An empty list, and what to do next. */
export function Empty({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Text to copy. The button appears when its script has loaded. */
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

/** A button that asks before it sends its form. It opens in place and works without scripts. */
export function ConfirmForm(
  { c, action, button, confirm, subject, children }: {
    c: SiteContext;
    action: string;
    button: string;
    /** Text of the button that does it. */
    confirm: string;
    /** Which one of several, for screen readers. */
    subject?: string;
    children: Child;
  },
) {
  return (
    <details class="confirm">
      <summary class="button button-small button-danger-quiet">
        {button} {subject !== undefined && <span class="sr-only">{subject}</span>}
      </summary>
      <div class="confirm-body">
        <p>{children}</p>
        <Form c={c} action={action} class="row">
          <button type="submit" class="button button-small button-danger">{confirm}</button>
        </Form>
      </div>
    </details>
  );
}

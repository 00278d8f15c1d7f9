/**
 * The last line of defence: what looks like a credential never reaches a log. The first
 * test is one cheap scan for a character or a word that every shape has; most paths pass it. Every pattern is
 * linear: lines hold what others wrote.
 */
const SUSPECT = /[-_@=]|AIza|AKIA|eyJ|earer |:[0-9a-f]{16}/i;
export const SHAPES = [
  // Providers' keys and our own, by the prefix that names whose they are.
  String
    .raw`(?<![A-Za-z0-9])(sk-|gsk_|xai-|pplx-|r8_|hf_|AIza|AKIA|whsec_|gh[pousr]_|github_pat_|xox[a-z]-)[A-Za-z0-9+/=_-]{8,}`,
  // Our own ids of keys begin so too, and are shorter.
  String.raw`(?<![A-Za-z0-9])(key_)[A-Za-z0-9]{40,}`,
  // An id and a secret.
  String
    .raw`(?<![0-9a-f-])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:)[0-9a-f]{16,}`,
  // A signed token.
  String.raw`(?<![\w-])(eyJ)[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?`,
  String.raw`\b(bearer\s+)[^\s"'\\]+`,
  String.raw`([?&][a-z_]{0,30}(?:key|token|secret|signature)=)[^&\s"'\\]+`,
  String.raw`(\/\/[^/\s:@"]{0,100}:)[^@\s"]{1,300}(?=@)`,
];
const SECRETS = new RegExp(SHAPES.join("|"), "gi");

/** A text without what looks like a credential. */
export function scrub(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text.replace(SECRETS, (...found) => {
    const prefix = found.slice(1, 1 + SHAPES.length).find((part) => part !== undefined);
    return `${prefix ?? ""}[secret]`;
  });
}

/** Shorter values are in too many other words to be taken out of them. */
const LENGTH_MIN = 8;
const PLAIN_URL = /^https?:\/\/[^\s@]*$/;

/** Takes out the very secrets that this process was given, whatever they look like, and what looks like one. */
export class Redactor {
  readonly #values = new Set<string>();
  #pattern: RegExp | null = null;

  /** From now on these are secret. An address without a password is not. */
  add(values: Iterable<string | undefined>): void {
    const before = this.#values.size;
    for (const value of values) {
      if (value === undefined || value.length < LENGTH_MIN || PLAIN_URL.test(value)) continue;
      for (const written of writtenForms(value)) this.#values.add(written);
    }
    if (this.#values.size === before) return;
    // The longest first: one may begin with another.
    const all = [...this.#values].sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp(all.map((value) => RegExp.escape(value)).join("|"), "g");
  }

  redact(text: string): string {
    const known = this.#pattern === null ? text : text.replace(this.#pattern, "[secret]");
    return scrub(known);
  }
}

/** As it is, as it stands in JSON, and as it stands in an address. */
function writtenForms(value: string): string[] {
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
  ];
  return [...new Set(forms)];
}

import { escapeReferences } from "../../../lib/yaml/references.ts";
import type { DraftProvider } from "../draft_config.ts";
import { type ImportedVariable, ImportError } from "./imported.ts";
import { uniqueName, variableName } from "./names.ts";

/** A value of another gateway's file: a plain text, a variable, or a secret, whose value is not copied. */
export type SourceValue =
  | { readonly text: string }
  | { readonly variable: string; readonly suffix?: string }
  | { readonly secret: string };

export interface ProviderSource {
  /** The wish for a name; equal names get numbers. */
  readonly name: string;
  readonly adapter: string;
  readonly baseUrl?: SourceValue | undefined;
  readonly apiKey?: SourceValue | undefined;
  readonly headers?: Readonly<Record<string, SourceValue>> | undefined;
  readonly timeoutSeconds?: number | undefined;
}

/** As many as a configuration takes. */
const PROVIDERS_MAX = 1000;
const URL_PLACEHOLDER = "https://placeholder.example/v1";

/** The providers of the new configuration. Equal sources are one provider. */
export class ProviderDrafts {
  readonly entries: Record<string, DraftProvider> = {};
  readonly #bySource = new Map<string, string>();
  readonly #names = new Set<string>();
  readonly #variables = new Map<string, ImportedVariable>();

  /** `reserved` are variables that the file itself names: no secret gets one of their names. */
  constructor(private readonly reserved: Set<string>) {}

  get variables(): ImportedVariable[] {
    return [...this.#variables.values()];
  }

  /** The name of the provider. `origin` is where the file has it. */
  add(source: ProviderSource, origin: string): string {
    const key = JSON.stringify(source);
    const known = this.#bySource.get(key);
    if (known !== undefined) return known;
    if (this.#names.size === PROVIDERS_MAX) {
      throw new ImportError(
        `${origin}: the configuration would have more than ${PROVIDERS_MAX} providers`,
      );
    }
    const name = uniqueName(source.name, this.#names);
    this.#bySource.set(key, name);
    this.entries[name] = this.#entry(name, source, origin);
    return name;
  }

  #entry(name: string, source: ProviderSource, origin: string): DraftProvider {
    const { adapter, baseUrl, apiKey, headers = {}, timeoutSeconds } = source;
    const write = (value: SourceValue, part: string, purpose: string) =>
      this.#write(
        value,
        variableName(name, part),
        "secret" in value ? `${purpose}, from ${origin}` : purpose,
      );
    const written = Object.entries(headers).map(([header, value]) => [
      header,
      write(value, header, `header ${header} of provider ${name}`),
    ]);
    return {
      adapter,
      ...(baseUrl === undefined
        ? {}
        : { base_url: write(baseUrl, "BASE_URL", `base URL of provider ${name}`) }),
      ...(apiKey === undefined
        ? {}
        : { api_key: write(apiKey, "API_KEY", `API key of provider ${name}`) }),
      ...(written.length === 0 ? {} : { headers: Object.fromEntries(written) }),
      ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
    };
  }

  #write(value: SourceValue, wish: string, purpose: string): string {
    if ("text" in value) return escapeReferences(value.text);
    const isUrl = purpose.startsWith("base URL");
    const variable = "variable" in value ? value.variable : uniqueName(wish, this.reserved, "_");
    const known = this.#variables.get(variable)?.purpose;
    this.#variables.set(variable, {
      name: variable,
      purpose: known === undefined ? purpose : `${known}, ${purpose}`,
      placeholder: isUrl ? URL_PLACEHOLDER : "placeholder",
    });
    return `\${${variable}}${"variable" in value ? value.suffix ?? "" : ""}`;
  }
}

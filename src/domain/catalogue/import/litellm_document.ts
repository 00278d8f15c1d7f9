import { issueText, type SourceIssue } from "../../../lib/yaml/issue.ts";
import { type LoadedYaml, loadYaml } from "../../../lib/yaml/load_yaml.ts";
import { objectOf } from "../catalogue.ts";
import { ImportError } from "./imported.ts";

type Block = Readonly<Record<string, unknown>>;

/** One entry of `model_list`. */
export interface Deployment {
  /** Such as `model_list[3]`. */
  readonly at: string;
  readonly name: string;
  /** `litellm_params.model`, such as `azure/gpt-4o-eu`. */
  readonly model: string;
  /** `litellm_params` with what its credential adds. */
  readonly params: Block;
  readonly info: Block;
}

/** A configuration file of LiteLLM's proxy. */
export interface LitellmDocument {
  readonly deployments: readonly Deployment[];
  readonly router: Block;
  readonly litellm: Block;
  /** Everything else at the top of the file. */
  readonly others: Block;
  /** Variables that it names with `os.environ/`. */
  readonly variables: ReadonlySet<string>;
}

const ISSUES_SHOWN = 20;
const REFERENCE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

/** The variable of `os.environ/NAME`; null for any other value. */
export function environmentName(value: unknown): string | null {
  return typeof value === "string" ? REFERENCE.exec(value.trim())?.[1] ?? null : null;
}

export function readLitellmDocument(file: string, text: string): LitellmDocument {
  const loaded = loadYaml(file, text, null);
  if (loaded.issues.length > 0) throw errorOf(file, loaded.issues);
  const reading = new Reading(file, loaded);
  const { model_list, router_settings, litellm_settings, credential_list, ...others } = reading
    .block(loaded.value, []);
  const credentials = reading.credentials(credential_list);
  const deployments = reading.list(model_list, ["model_list"]).map((entry, at) =>
    reading.deployment(entry, at, credentials)
  );
  reading.throwIssues();
  return {
    deployments,
    router: reading.block(router_settings ?? {}, ["router_settings"]),
    litellm: reading.block(litellm_settings ?? {}, ["litellm_settings"]),
    others,
    variables: variablesIn(loaded.value),
  };
}

class Reading {
  readonly #issues: SourceIssue[] = [];

  constructor(private readonly file: string, private readonly loaded: LoadedYaml) {}

  deployment(entry: unknown, at: number, credentials: ReadonlyMap<string, Block>): Deployment {
    const path = ["model_list", at];
    const { model_name, litellm_params, model_info } = this.block(entry, path);
    const own = this.block(litellm_params, [...path, "litellm_params"]);
    const credential = credentials.get(String(own.litellm_credential_name)) ?? {};
    const params = { ...credential, ...own };
    return {
      at: `model_list[${at}]`,
      name: this.#text(model_name, [...path, "model_name"]),
      model: this.#text(params.model, [...path, "litellm_params", "model"]),
      params,
      info: this.block(model_info ?? {}, [...path, "model_info"]),
    };
  }

  /** Values by the name of the credential. */
  credentials(value: unknown): Map<string, Block> {
    const entries = value === undefined || value === null
      ? []
      : this.list(value, ["credential_list"]);
    return new Map(entries.map((entry, at) => {
      const path = ["credential_list", at];
      const { credential_name, credential_values } = this.block(entry, path);
      return [
        this.#text(credential_name, [...path, "credential_name"]),
        this.block(credential_values ?? {}, [...path, "credential_values"]),
      ];
    }));
  }

  block(value: unknown, path: readonly (string | number)[]): Block {
    return objectOf(value) ?? (this.#expect(path, "a mapping"), {});
  }

  list(value: unknown, path: readonly (string | number)[]): readonly unknown[] {
    return Array.isArray(value) ? value : (this.#expect(path, "a list"), []);
  }

  throwIssues(): void {
    if (this.#issues.length > 0) throw errorOf(this.file, this.#issues);
  }

  #text(value: unknown, path: readonly (string | number)[]): string {
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    // Names such as 4.1 are numbers to YAML.
    if (typeof value === "number") return String(value);
    this.#expect(path, "a text");
    return "";
  }

  #expect(path: readonly (string | number)[], expected: string): void {
    const issue = this.loaded.sourceMap.issue(path, { message: `expected ${expected}` });
    this.#issues.push(issue);
  }
}

/** Without the lines themselves, which may have keys in them. */
function errorOf(file: string, issues: readonly SourceIssue[]): ImportError {
  const shown = issues.slice(0, ISSUES_SHOWN).map((issue) =>
    `${file}:${issue.line}:${issue.column} ${issueText(issue)}`
  );
  const more = issues.length - shown.length;
  return new ImportError([...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join("\n"));
}

function variablesIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const visit = (each: unknown): void => {
    const name = environmentName(each);
    if (name !== null) found.add(name);
    if (typeof each === "object" && each !== null) Object.values(each).forEach(visit);
  };
  visit(value);
  return found;
}

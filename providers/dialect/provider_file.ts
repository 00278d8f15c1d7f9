import Ajv2020, { type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { didYouMean } from "../../src/lib/suggest.ts";
import schema from "../../schemas/provider.schema.json" with { type: "json" };
import type { ErrorRules } from "./faults.ts";
import type { EndingName } from "./finish.ts";
import type { ImageTokensRule } from "./image_tokens.ts";
import type { MediaProvider } from "../media/file_adapter.ts";
import { findMediaFaults } from "../media/check.ts";
import type { UsageRules } from "./usage.ts";
import type { WriteRules } from "./write.ts";
import { YAML_TYPES } from "../../src/lib/yaml_types.ts";

/** A `provider.yaml`: how a server differs from OpenAI's chat API, and how its media jobs work. */
export interface ProviderFile extends WriteRules, Pick<MediaProvider, "hosts" | "media"> {
  readonly name: string;
  readonly base_url?: string;
  readonly chat?: boolean;
  readonly reasoning?: readonly string[];
  readonly finish_reasons?: Readonly<Record<string, EndingName>>;
  readonly usage?: UsageRules;
  readonly image_tokens?: readonly ImageTokensRule[];
  readonly errors?: ErrorRules;
}

/** An error in a provider's file, with its position. */
export interface ProviderFault {
  readonly line: number;
  readonly column: number;
  readonly path: readonly string[];
  readonly message: string;
}

/** Thrown with all faults of a file; each line starts with the position. */
export class BadProvider extends Error {
  override readonly name = "BadProvider";
  readonly faults: readonly string[];
  constructor(readonly file: string, readonly found: readonly ProviderFault[]) {
    const faults = [...new Set(found.map((fault) => formatFault(file, fault)))];
    super(`Cannot use ${file}:\n${faults.join("\n")}`);
    this.faults = faults;
  }
}

function formatFault(file: string, { line, column, path, message }: ProviderFault): string {
  const where = path.length === 0 ? "" : `/${path.join("/")}: `;
  return `${file}:${line}:${column} ${where}${message}`;
}

let compiled: ValidateFunction | undefined;

/** A test validates the schema itself: doing it here would take three times as long as the rest of the start. */
function validator(): ValidateFunction {
  if (compiled !== undefined) return compiled;
  const ajv = new Ajv2020.default({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    verbose: true,
    meta: false,
    validateSchema: false,
  });
  ajv.addVocabulary(["expected"]);
  return compiled = ajv.compile(schema);
}

/** Parses a `provider.yaml` and validates it against its schema. */
export function readProvider(file: string, source: string): ProviderFile {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const fault = (offset: number, path: readonly string[], message: string): ProviderFault => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col, path, message };
  };
  if (document.errors.length > 0) {
    throw new BadProvider(
      file,
      document.errors.map(({ pos, message }) => fault(pos[0], [], message)),
    );
  }
  const endless = aliasesInside(document);
  if (endless.length > 0) {
    throw new BadProvider(
      file,
      endless.map(({ offset, name }) =>
        fault(offset, [], `the alias *${name} is inside its own anchor`)
      ),
    );
  }
  const value = valueOf(file, document, fault);
  const validate = validator();
  const found = validate(value) ? [] : relevantErrors(validate.errors!).map((error) => {
    const path = steps(error.instancePath);
    return fault(offsetOf(document, path, error.params.additionalProperty), path, describe(error));
  });
  for (const { path, message } of findMediaFaults(value)) {
    found.push(fault(offsetOf(document, path), path, message));
  }
  if (found.length > 0) throw new BadProvider(file, found);
  return value as ProviderFile;
}

/** Aliases inside their own anchor: resolving them would never end. */
function aliasesInside(document: Document): { offset: number; name: string }[] {
  const found: { offset: number; name: string }[] = [];
  visit(document, {
    Alias(_, alias, ancestors) {
      const repeated = alias.resolve(document);
      if (repeated !== undefined && ancestors.includes(repeated)) {
        found.push({ offset: alias.range?.[0] ?? 0, name: alias.source });
      }
    },
  });
  return found;
}

function valueOf(
  file: string,
  document: Document,
  fault: (offset: number, path: readonly string[], message: string) => ProviderFault,
): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias without an anchor, or aliases that expand to too many nodes.
    throw new BadProvider(file, [fault(0, [], (error as Error).message)]);
  }
}

function describe({ keyword, message, params, parentSchema, data }: ErrorObject): string {
  const { expected, properties = {} } = parentSchema as Annotated;
  switch (keyword) {
    case "additionalProperties": {
      const key = params.additionalProperty as string;
      return withHint(`the key "${key}" is unknown`, didYouMean(key, Object.keys(properties)));
    }
    case "required":
      return `the key "${params.missingProperty}" is missing`;
    case "enum": {
      const allowed = params.allowedValues as string[];
      const hint = typeof data === "string" ? didYouMean(data, allowed) : undefined;
      return withHint(`must be one of ${allowed.join(", ")}`, hint);
    }
    case "pattern":
      return `must be ${expected}`;
    case "type":
      return `must be ${
        expected ?? [params.type].flat().map((type) => YAML_TYPES[type] ?? type).join(" or ")
      }`;
    default:
      return message!;
  }
}

/** Keywords of the schema that messages use. */
interface Annotated {
  /** The pattern in plain English. */
  expected?: string;
  properties?: Record<string, unknown>;
}

function withHint(fault: string, hint: string | undefined): string {
  return hint === undefined ? fault : `${fault}. ${hint}`;
}

function steps(pointer: string): string[] {
  return pointer.split("/").slice(1).map((step) =>
    step.replaceAll("~1", "/").replaceAll("~0", "~")
  );
}

/** Leaves out that no alternative matches where an error inside the intended alternative says why. */
function relevantErrors(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const own = errors.filter(({ keyword }) => keyword !== "oneOf" && keyword !== "const");
  if (own.length === 0) return errors;
  const isOtherKind = (error: ErrorObject) =>
    error.keyword === "type" && /\/oneOf\/\d+\/type$/.test(error.schemaPath);
  const meant = own.filter((error) => !isOtherKind(error));
  return own.filter((error) =>
    !isOtherKind(error) ||
    !meant.some(({ instancePath }) => instancePath.startsWith(error.instancePath))
  );
}

/** The offset of the value or unknown key; for a missing key, of the block without it. */
function offsetOf(document: Document, path: readonly string[], unknownKey?: unknown): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    const unknown = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === unknownKey)?.key
      : undefined;
    const faulty = isNode(unknown) ? unknown : node;
    if (isNode(faulty) && faulty.range) return faulty.range[0];
  }
  return 0;
}

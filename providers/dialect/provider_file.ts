import Ajv2020, { type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { didYouMean } from "../../src/lib/suggest.ts";
import schema from "../../schemas/provider.schema.json" with { type: "json" };
import type { ErrorRules } from "./faults.ts";
import type { EndingName } from "./finish.ts";
import type { ImageTokensRule } from "./image_tokens.ts";
import type { MediaProvider } from "../media/declare.ts";
import { findMediaFaults } from "../media/check.ts";
import type { UsageRules } from "./usage.ts";
import type { WriteRules } from "./write.ts";
import { YAML_TYPES } from "../../src/lib/yaml_types.ts";

/** A `provider.yaml`: what sets a server of OpenAI's dialect apart, and how files are made. */
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

/** What is wrong in a provider's file, and where. */
export interface ProviderFault {
  readonly line: number;
  readonly column: number;
  readonly path: readonly string[];
  readonly message: string;
}

/** Raised with every fault at once; each line says where. */
export class BadProvider extends Error {
  override readonly name = "BadProvider";
  readonly faults: readonly string[];
  constructor(readonly file: string, readonly found: readonly ProviderFault[]) {
    const faults = [...new Set(found.map((fault) => tell(file, fault)))];
    super(`Cannot use ${file}:\n${faults.join("\n")}`);
    this.faults = faults;
  }
}

function tell(file: string, { line, column, path, message }: ProviderFault): string {
  const where = path.length === 0 ? "" : `/${path.join("/")}: `;
  return `${file}:${line}:${column} ${where}${message}`;
}

let compiled: ValidateFunction | undefined;

/** The schema itself is held against its own in a test: doing it here would quadruple the start. */
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

/** Reads a `provider.yaml` and holds it against its schema. */
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
        fault(offset, [], `the alias *${name} stands inside what it repeats`)
      ),
    );
  }
  const value = valueOf(file, document, fault);
  const validate = validator();
  const found = validate(value) ? [] : withoutEchoes(validate.errors!).map((error) => {
    const path = steps(error.instancePath);
    return fault(offsetOf(document, path, error.params.additionalProperty), path, describe(error));
  });
  for (const { path, message } of findMediaFaults(value)) {
    found.push(fault(offsetOf(document, path), path, message));
  }
  if (found.length > 0) throw new BadProvider(file, found);
  return value as ProviderFile;
}

/** Aliases within their own anchor: followed, they never end. */
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
    // An alias without an anchor, or aliases that expand to too much.
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

/** What of a schema is told to people. */
interface Annotated {
  /** What a pattern expects, in words. */
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

/** That no alternative fits is said better by what is wrong with the one that was meant. */
function withoutEchoes(errors: readonly ErrorObject[]): readonly ErrorObject[] {
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

/** Where the culprit stands; for a missing key, the block that misses it. */
function offsetOf(document: Document, path: readonly string[], unknownKey?: unknown): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    const unknown = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === unknownKey)?.key
      : undefined;
    const culprit = isNode(unknown) ? unknown : node;
    if (isNode(culprit) && culprit.range) return culprit.range[0];
  }
  return 0;
}

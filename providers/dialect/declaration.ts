import Ajv2020, { type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import schema from "../../schemas/provider.schema.json" with { type: "json" };
import type { ErrorsDeclaration } from "./faults.ts";
import type { EndingName } from "./finish.ts";
import type { UsageDeclaration } from "./usage.ts";
import type { WriteDeclaration } from "./write.ts";

/** A `provider.yaml`: everything that sets a server of OpenAI's dialect apart. */
export interface ProviderDeclaration extends WriteDeclaration {
  readonly name: string;
  readonly base_url?: string;
  readonly reasoning?: readonly string[];
  readonly finish_reasons?: Readonly<Record<string, EndingName>>;
  readonly usage?: UsageDeclaration;
  readonly errors?: ErrorsDeclaration;
}

/** Raised with every fault at once; each line says where. */
export class BadProvider extends Error {
  override readonly name = "BadProvider";
  constructor(readonly file: string, readonly faults: readonly string[]) {
    super(`Cannot use ${file}:\n${faults.join("\n")}`);
  }
}

let compiled: ValidateFunction | undefined;

/** The schema itself is held against its own in a test: doing it here would quadruple the start. */
function validator(): ValidateFunction {
  const ajv = { allErrors: true, strict: true, allowUnionTypes: true };
  return compiled ??= new Ajv2020.default({ ...ajv, meta: false, validateSchema: false })
    .compile(schema);
}

/** Reads a `provider.yaml` and holds it against its schema. */
export function readProvider(file: string, source: string): ProviderDeclaration {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  if (document.errors.length > 0) {
    throw new BadProvider(
      file,
      document.errors.map(({ pos, message }) => `${place(pos[0])} ${message}`),
    );
  }
  const value = document.toJS() as unknown;
  const validate = validator();
  if (validate(value)) return value as ProviderDeclaration;
  const faults = withoutEchoes(validate.errors!).map((error) =>
    `${place(offsetOf(document, error))} ${describe(error)}`
  );
  throw new BadProvider(file, [...new Set(faults)]);
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const unknown = params.additionalProperty as string | undefined;
  const allowed = params.allowedValues as string[] | undefined;
  const said = unknown !== undefined
    ? `the key "${unknown}" is unknown`
    : allowed !== undefined
    ? `must be one of ${allowed.join(", ")}`
    : message;
  return `${instancePath === "" ? "" : `${instancePath}: `}${said}`;
}

/** That no alternative fits is said better by what is wrong with the one that was meant. */
function withoutEchoes(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const own = errors.filter(({ keyword }) => keyword !== "oneOf" && keyword !== "const");
  return own.length > 0 ? own : errors;
}

/** Where the culprit stands; for a missing key, the block that misses it. */
function offsetOf(document: Document, { instancePath, params }: ErrorObject): number {
  const path = instancePath.split("/").slice(1).map((step) =>
    step.replaceAll("~1", "/").replaceAll("~0", "~")
  );
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    const unknown = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === params.additionalProperty)?.key
      : undefined;
    const culprit = isNode(unknown) ? unknown : node;
    if (isNode(culprit) && culprit.range) return culprit.range[0];
  }
  return 0;
}

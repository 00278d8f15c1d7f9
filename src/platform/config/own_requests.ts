import type { AnySchemaObject } from "ajv/dist/2020.js";
import { type ReadSchema, readSchema } from "../../lib/json_schema/read_schema.ts";
import { didYouMean } from "../../lib/suggest.ts";
import { issueText, type SourceIssue } from "../../lib/yaml/issue.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";
import { blockOf, type BuildCapabilities, listOf } from "./checker.ts";
import type { ConfigIssue } from "./issues.ts";
import { findDefinition } from "../../model_types/model_types.ts";
import { isFileName, type OwnFiles } from "./own_files.ts";

/** Request schemas from an operator's own files: `request: ./posters.schema.json` of a generation route. */
export interface OwnRequests {
  /** By the name in the configuration. */
  readonly schemas: ReadonlyMap<string, { readonly version: string; schema: AnySchemaObject }>;
  readonly versions: readonly string[];
  readonly issues: readonly ConfigIssue[];
}

/** Such a schema narrows the one of the model type: requests must match both. */
export function readOwnRequests(
  loaded: LoadedYaml,
  capabilities: BuildCapabilities,
  files: OwnFiles,
): OwnRequests {
  const schemas = new Map<string, { version: string; schema: AnySchemaObject }>();
  const issues: ConfigIssue[] = [];
  for (const [index, route] of listOf(blockOf(loaded.value).routes).map(blockOf).entries()) {
    const { request, type } = route;
    if (!isFileName(request)) continue;
    const report = (message: string) =>
      issues.push(loaded.sourceMap.issue(["routes", index, "request"], { message }));
    const file = files.read(request);
    if ("reason" in file) {
      report(`${request} ${file.reason}`);
      continue;
    }
    const read = readSchema(request, file.text);
    const builtIn = capabilities.requestSchema?.(findDefinition(type)?.request.name ?? "");
    const found = [
      ...read.issues,
      ...(builtIn === undefined || read.schema === null ? [] : findMisfits(read, builtIn)),
    ];
    for (const issue of found) {
      report(`${request}:${issue.line}:${issue.column} ${issueText(issue)}`);
    }
    if (read.schema !== null) schemas.set(request, { version: file.version, schema: read.schema });
  }
  return { schemas, versions: [...schemas.values()].map(({ version }) => version), issues };
}

/** Fields that the model type does not know would be ignored; without its required fields, no request would pass. */
function findMisfits({ schema, loaded }: ReadSchema, builtIn: AnySchemaObject): SourceIssue[] {
  const known = Object.keys(builtIn.properties);
  const { properties, required, additionalProperties } = schema!;
  const named = [
    ...Object.keys(properties ?? {}).map((name) => [name, ["properties", name]] as const),
    ...(required ?? []).map((name: string, at: number) => [name, ["required", at]] as const),
  ];
  const unknown = named.filter(([name]) => !known.includes(name)).map(([name, path]) =>
    loaded.sourceMap.issue(path, {
      message: `requests of this model type have no field "${name}"`,
      suggestion: didYouMean(name, known),
    }, path[0] === "properties" ? "key" : "value")
  );
  const rejected = additionalProperties === false
    ? (builtIn.required as string[]).filter((name) => !Object.hasOwn(properties ?? {}, name))
    : [];
  return [
    ...unknown,
    ...rejected.map((name) =>
      loaded.sourceMap.issue(["properties"], {
        message: `needs the field "${name}", which every request has`,
      })
    ),
  ];
}

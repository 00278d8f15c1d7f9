import type { UpstreamTarget } from "../../src/upstream/adapter.ts";
import type { MediaInput, MediaRequest } from "../../src/upstream/media_adapter.ts";
import { record } from "../dialect/json.ts";
import { join, lowerCase } from "../dialect/write.ts";
import type { ConnectionRules, RequestRules } from "./media_file.ts";
import { isExpression, type Maps } from "./expression.ts";
import { bytesOf, inputOf } from "./inputs.ts";
import { compileTemplate, holds, type Template } from "./template.ts";

/** The values that expressions of a request can read. */
export interface RequestRoot {
  readonly model: string;
  readonly id?: string;
  readonly reference?: string;
  readonly [name: string]: unknown;
}

export interface CompiledRequest {
  /** Whether the condition of the request is true for this job. */
  fits(root: RequestRoot): Promise<boolean>;
  write(
    root: RequestRoot,
    target: UpstreamTarget,
    extra?: UpstreamTarget["extraBody"],
  ): Promise<MediaRequest>;
}

export function compileRequest(
  rules: RequestRules,
  connection: ConnectionRules,
  maps: Maps,
  defaultMethod: MediaRequest["method"],
): CompiledRequest {
  const template = (written: unknown) =>
    written === undefined ? null : compileTemplate(written, maps);
  const when = template(rules.when);
  const path = compilePath(rules.path, maps);
  const query = template(rules.query);
  const headers = template(rules.headers);
  const body = template(rules.body);
  const form = template(rules.form);
  const bytes = template(rules.bytes);
  const fixed = lowerCase(connection.headers ?? {});

  return {
    fits: async (root) => when === null || holds(await when(root)),
    async write(root, target, extra) {
      const own = record(await headers?.(root)) ?? {};
      const { content, type } = await contentOf({ body, form, bytes }, root, extra);
      return {
        method: rules.method ?? defaultMethod,
        url: addressOf(connection, rules.host, target) + await path(root) +
          queryOf(await query?.(root)),
        headers: {
          accept: "application/json",
          ...(type === null ? {} : { "content-type": type }),
          ...fixed,
          ...authOf(connection, target),
          ...lowerCase(texts(own)),
        },
        body: content,
      };
    },
  };
}

/** The header with our API key; empty without a key. */
export function authOf(
  { auth }: ConnectionRules,
  { apiKey }: UpstreamTarget,
): Record<string, string> {
  if (auth === "none" || apiKey === null) return {};
  const { header, prefix = "" } = auth ?? { header: "authorization", prefix: "Bearer " };
  return { [header.toLowerCase()]: prefix + apiKey };
}

/** The provider's other hosts belong to its default base URL: a configured base URL replaces all of them. */
function addressOf(
  connection: ConnectionRules,
  host: string | undefined,
  target: UpstreamTarget,
): string {
  const isConfigured = target.baseUrl !== connection.base_url;
  const address = host === undefined || isConfigured ? target.baseUrl : connection.hosts![host]!;
  return join(address, "");
}

function compilePath(written: string, maps: Maps): (root: RequestRoot) => Promise<string> {
  if (isExpression(written)) {
    const evaluate = compileTemplate(written, maps);
    return async (root) => String(await evaluate(root));
  }
  return (root) =>
    Promise.resolve(written.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(root[name] ?? "");
      // Slashes in a model's name are part of the provider's path.
      return name === "model" ? value.split("/").map(segment).join("/") : segment(value);
    }));
}

/** One segment of a path; never `.` or `..`, which would change the path. */
function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError("a segment of the path is empty, . or ..");
  return encodeURIComponent(text);
}

function queryOf(query: unknown): string {
  const given = new URLSearchParams(texts(record(query) ?? {})).toString();
  return given === "" ? "" : `?${given}`;
}

function texts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

interface Content {
  content: MediaRequest["body"];
  /** Null for a form, whose type the runtime writes, and without content. */
  type: string | null;
}

async function contentOf(
  { body, form, bytes }: { body: Template | null; form: Template | null; bytes: Template | null },
  root: RequestRoot,
  extra: UpstreamTarget["extraBody"],
): Promise<Content> {
  if (form !== null) {
    return { content: formOf({ ...record(await form(root)), ...extra }), type: null };
  }
  if (bytes !== null) {
    const input = inputOf(await bytes(root));
    if (input === null) throw new TypeError("expected an input to send");
    return { content: bytesOf(input), type: input.mimeType };
  }
  if (body === null) return { content: null, type: null };
  const whole = extra === undefined ? await body(root) : merged(await body(root), extra);
  return { content: JSON.stringify(whole), type: "application/json" };
}

function formOf(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      const input = inputOf(one);
      if (input === null) form.append(name, String(one));
      else form.append(name, new Blob([bytesOf(input)], { type: input.mimeType }), fileName(input));
    }
  }
  return form;
}

/** Some services read the type of a file from its extension. */
function fileName({ filename, mimeType }: MediaInput): string {
  return filename.includes(".") ? filename : `${filename}.${mimeType.replace(/^.*\//, "")}`;
}

/** Merges objects recursively; the operator's values win. */
function merged(base: unknown, extra: unknown): unknown {
  const [below, above] = [record(base), record(extra)];
  if (below === null || above === null) return extra;
  const whole: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    whole[name] = Object.hasOwn(below, name) ? merged(below[name], value) : value;
  }
  return whole;
}

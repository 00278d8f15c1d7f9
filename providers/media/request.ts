import type { UpstreamTarget } from "../../src/upstream/adapter.ts";
import type { MediaInput, MediaRequest } from "../../src/upstream/media_adapter.ts";
import { record } from "../dialect/json.ts";
import { join, lowerCase } from "../dialect/write.ts";
import type { ProviderGround, RequestDeclaration } from "./declaration.ts";
import { isExpression, type Maps } from "./expression.ts";
import { bytesOf, inputOf } from "./inputs.ts";
import { compileTemplate, holds, type Template } from "./template.ts";

/** What expressions of a request see. */
export interface RequestRoot {
  readonly model: string;
  readonly id?: string;
  readonly reference?: string;
  readonly [name: string]: unknown;
}

export interface CompiledRequest {
  /** Whether it is the one for this job. */
  fits(root: RequestRoot): Promise<boolean>;
  write(
    root: RequestRoot,
    target: UpstreamTarget,
    extra?: UpstreamTarget["extraBody"],
  ): Promise<MediaRequest>;
}

export function compileRequest(
  declared: RequestDeclaration,
  ground: ProviderGround,
  maps: Maps,
  usualMethod: MediaRequest["method"],
): CompiledRequest {
  const template = (written: unknown) =>
    written === undefined ? null : compileTemplate(written, maps);
  const when = template(declared.when);
  const path = compilePath(declared.path, maps);
  const query = template(declared.query);
  const headers = template(declared.headers);
  const body = template(declared.body);
  const form = template(declared.form);
  const bytes = template(declared.bytes);
  const fixed = lowerCase(ground.headers ?? {});

  return {
    fits: async (root) => when === null || holds(await when(root)),
    async write(root, target, extra) {
      const own = record(await headers?.(root)) ?? {};
      const { content, type } = await contentOf({ body, form, bytes }, root, extra);
      return {
        method: declared.method ?? usualMethod,
        url: addressOf(ground, declared.host, target) + await path(root) +
          queryOf(await query?.(root)),
        headers: {
          accept: "application/json",
          ...(type === null ? {} : { "content-type": type }),
          ...fixed,
          ...authOf(ground, target),
          ...lowerCase(texts(own)),
        },
        body: content,
      };
    },
  };
}

/** The header that carries our key; none where there is none. */
export function authOf(
  { auth }: ProviderGround,
  { apiKey }: UpstreamTarget,
): Record<string, string> {
  if (auth === "none" || apiKey === null) return {};
  const { header, prefix = "" } = auth ?? { header: "authorization", prefix: "Bearer " };
  return { [header.toLowerCase()]: prefix + apiKey };
}

/** A provider's further hosts are real only at its own address: whoever declares another gets it all. */
function addressOf(
  ground: ProviderGround,
  host: string | undefined,
  target: UpstreamTarget,
): string {
  const isElsewhere = target.baseUrl !== ground.base_url;
  const address = host === undefined || isElsewhere ? target.baseUrl : ground.hosts![host]!;
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
      // A model's name may hold slashes that the provider means as such.
      return name === "model" ? value.split("/").map(segment).join("/") : segment(value);
    }));
}

/** One step of a path, and never one that climbs. */
function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError("a step of the path is empty or climbs");
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
  /** Null where the runtime writes it (multipart), or where there is nothing. */
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

/** Some services judge a file by its ending. */
function fileName({ filename, mimeType }: MediaInput): string {
  return filename.includes(".") ? filename : `${filename}.${mimeType.replace(/^.*\//, "")}`;
}

/** What the operator adds wins, block by block. */
function merged(base: unknown, extra: unknown): unknown {
  const [below, above] = [record(base), record(extra)];
  if (below === null || above === null) return extra;
  const whole: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    whole[name] = Object.hasOwn(below, name) ? merged(below[name], value) : value;
  }
  return whole;
}

import { ApiError, type ApiErrorCode } from "../lib/api_error.ts";
import { notOffered } from "../lib/not_offered.ts";
import type {
  FileKind,
  FindFile,
  InputFile,
  InputRef,
  LimitedModel,
  MediaKind,
  RequestCheck,
  RequestFields,
} from "./definition.ts";

/** Prompts of models that declare no limit of their own, in characters. */
const DEFAULT_PROMPT_MAX = 32_000;
const FILE_ID = /^file_/;
const FILE_KINDS: Readonly<Record<FileKind, string>> = {
  text: "a text",
  image: "an image",
  audio: "audio",
  video: "a video",
};

export function numberLimit({ limits }: LimitedModel, name: string): number | undefined {
  const limit = limits[name];
  return typeof limit === "number" ? limit : undefined;
}

export function listLimit<Item extends string | number>(
  { limits }: LimitedModel,
  name: string,
): readonly Item[] | undefined {
  const limit = limits[name];
  return Array.isArray(limit) ? limit as readonly Item[] : undefined;
}

/** Counted in characters as people see them, not in UTF-16 units. */
export function checkLength(
  model: LimitedModel,
  text: string,
  param: string,
  defaultMax = DEFAULT_PROMPT_MAX,
): void {
  const most = numberLimit(model, "max_prompt_length") ?? defaultMax;
  // No text has more characters than units.
  if (text.length <= most || [...text].length <= most) return;
  throw new ApiError("prompt_too_long", `${param} may not be longer than ${most} characters.`, {
    param,
  });
}

/** The prompt, within its limit; null where the request has none. */
export function readPrompt({ model, body }: RequestCheck): string | null {
  if (typeof body.prompt !== "string") return null;
  checkLength(model, body.prompt, "prompt");
  return body.prompt;
}

/** A parameter that must be one of the model's; left out, its first. Without a list anything goes. */
export function readOffered(
  { model, body }: Pick<RequestCheck, "model" | "body">,
  { name, limit, code }: { name: string; limit: string; code: ApiErrorCode },
): Record<string, string | number> {
  const offered = listLimit(model, limit);
  const asked = body[name] as string | number | undefined;
  if (offered === undefined) return asked === undefined ? {} : { [name]: asked };
  if (asked === undefined) return { [name]: offered[0]! };
  if (!offered.includes(asked)) throw notOffered(model, name, offered, code);
  return { [name]: asked };
}

/** The same for a parameter that only models with a list of its values have. */
export function readDeclared(
  request: Pick<RequestCheck, "model" | "body">,
  { name, limit }: { name: string; limit: string },
): Record<string, string | number> {
  const { model, body } = request;
  if (body[name] !== undefined && listLimit(model, limit) === undefined) {
    throw new ApiError("invalid_value", `${model.id} does not take ${name}: leave it out.`, {
      param: name,
    });
  }
  return readOffered(request, { name, limit, code: "invalid_value" });
}

export function readAspectRatio(
  request: Pick<RequestCheck, "model" | "body">,
): Record<string, string | number> {
  return readOffered(request, {
    name: "aspect_ratio",
    limit: "aspect_ratios",
    code: "aspect_ratio_not_allowed",
  });
}

/** A whole number of the body; undefined where it has none. */
export function readWhole(
  body: RequestFields,
  name: string,
  { min, max }: { min: number; max: number },
): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    throw new ApiError("invalid_value", `${name} must be a whole number from ${min} to ${max}.`, {
      param: name,
    });
  }
  return value;
}

/** Input images: allowed, not too many, each a safe URL or a file of the account. */
export async function readInputImages(
  { model, body, findFile, checkUrl }: RequestCheck,
  capabilities: { without: string; with: string },
): Promise<InputRef[]> {
  const named = (body.input_images ?? []) as readonly string[];
  const param = "input_images";
  if (named.length === 0) {
    if (model.capabilities.has(capabilities.without)) return [];
    throw new ApiError(
      "missing_field",
      `The field ${param} is missing: the model needs an image.`,
      { param },
    );
  }
  if (!model.capabilities.has(capabilities.with)) {
    throw new ApiError("capability_not_supported", `${model.id} does not accept input images.`, {
      param,
    });
  }
  const most = numberLimit(model, "max_input_images") ?? 1;
  if (named.length > most) {
    throw new ApiError("invalid_value", `${param} may not have more than ${most} entries.`, {
      param,
    });
  }
  const inputs: InputRef[] = [];
  for (const [at, name] of named.entries()) {
    const place = `${param}.${at}`;
    if (FILE_ID.test(name)) {
      const { id } = await readFile(findFile, { id: name, param: place, kinds: ["image"] });
      inputs.push({ role: "image", file_id: id });
    } else {
      checkUrl(name, place);
      inputs.push({ role: "image", url: name });
    }
  }
  return inputs;
}

/** A file of the account, of one of these kinds. */
export async function readFile(
  findFile: FindFile,
  { id, param, kinds }: { id: unknown; param: string; kinds: readonly MediaKind[] },
): Promise<InputFile> {
  const file = await findFile(String(id));
  if (file === null) {
    throw new ApiError("file_not_found", "There is no such file: upload it with POST /v1/files.", {
      kind: "invalid_request",
      param,
    });
  }
  if ((kinds as readonly FileKind[]).includes(file.kind)) return file;
  throw new ApiError(
    "invalid_value",
    `${param} must be the id of ${
      kinds.map((kind) => FILE_KINDS[kind]).join(" or ")
    }: this file is ${FILE_KINDS[file.kind]}.`,
    { param },
  );
}

import { notOffered } from "../../lib/not_offered.ts";
import { ApiError, type ApiErrorCode } from "../../lib/api_error.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { Files, StoredFile } from "../../domain/files/files.ts";
import { checkUrl } from "../../platform/outbound/check_url.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import { maxUsage } from "../../domain/pricing/max_usage.ts";
import type { InputRef, TaskJob } from "./task.ts";

/** A request body that its schema let pass. */
export type GenerationBody = Readonly<Record<string, unknown>> & { readonly model: string };

/** What a request asks for, checked against the model and filled in, and the most it can use. */
export interface CheckedGeneration {
  job: TaskJob;
  maxUsage: Usage;
}

/** Prompts of models that declare no limit of their own, in characters. */
const DEFAULT_PROMPT_MAX = 32_000;
const FILE_ID = /^file_/;
const FILE_KINDS = { image: "an image", audio: "audio", video: "a video" } as const;

/** A request and what it is checked against. */
export interface GenerationCheck {
  readonly files: Files;
  readonly config: Config;
  readonly account: string;
  readonly model: Model;
  readonly body: GenerationBody;
}

/** Checks a request against its model's limits and capabilities, and its files against their owner. */
export async function checkGeneration(check: GenerationCheck): Promise<CheckedGeneration> {
  const { model, body } = check;
  const prompt = typeof body.prompt === "string" ? body.prompt : null;
  if (prompt !== null) checkLength(model, prompt, "prompt");
  switch (model.type) {
    case "image":
      return await checkImage(check, prompt);
    case "video":
      return await checkVideo(check, prompt);
    case "avatar":
      return await checkAvatar(check);
    default:
      throw new Error(`There is no generation of ${model.type}`);
  }
}

async function checkImage(
  check: GenerationCheck,
  prompt: string | null,
): Promise<CheckedGeneration> {
  const { model, body } = check;
  const inputs = await checkInputImages(check, "image");
  const size = oneOf(check, { name: "size", limit: "sizes", code: "invalid_value" });
  const ratio = oneOf(check, {
    name: "aspect_ratio",
    limit: "aspect_ratios",
    code: "aspect_ratio_not_allowed",
  });
  const most = maxUsage(model, body);
  const parameters = { n: most.images!, ...size, ...ratio };
  return { job: { prompt, parameters, inputs }, maxUsage: most };
}

async function checkVideo(
  check: GenerationCheck,
  prompt: string | null,
): Promise<CheckedGeneration> {
  const { model, body } = check;
  const inputs = await checkInputImages(check, "video");
  const ratio = oneOf(check, {
    name: "aspect_ratio",
    limit: "aspect_ratios",
    code: "aspect_ratio_not_allowed",
  });
  const length = oneOf(check, {
    name: "duration",
    limit: "durations",
    code: "duration_not_allowed",
  });
  const most = maxUsage(model, { ...body, ...length });
  return { job: { prompt, parameters: { ...length, ...ratio }, inputs }, maxUsage: most };
}

async function checkAvatar(check: GenerationCheck): Promise<CheckedGeneration> {
  const { model, body } = check;
  const ratio = oneOf(check, {
    name: "aspect_ratio",
    limit: "aspect_ratios",
    code: "aspect_ratio_not_allowed",
  });
  const [avatar, audio] = await Promise.all([
    ownFile(check, { id: body.avatar_file_id, param: "avatar_file_id", kinds: ["image", "video"] }),
    ownFile(check, { id: body.audio_file_id, param: "audio_file_id", kinds: ["audio"] }),
  ]);
  const most = maxUsage(model, body);
  const longest = Number(most.seconds);
  const seconds = audio.durationMs === null ? longest : Math.ceil(audio.durationMs / 1000);
  if (seconds > longest) {
    throw new ApiError("duration_not_allowed", `The audio may last ${longest} seconds.`, {
      param: "audio_file_id",
    });
  }
  const inputs: InputRef[] = [
    { role: "avatar", file_id: avatar.id },
    { role: "audio", file_id: audio.id },
  ];
  return {
    job: { prompt: null, parameters: { ...ratio, seconds_max: seconds }, inputs },
    maxUsage: { ...most, seconds },
  };
}

/** Checks input images: allowed, not too many, each a safe URL or a file of the account. */
async function checkInputImages(
  { files, config, account, model, body }: GenerationCheck,
  what: "image" | "video",
): Promise<InputRef[]> {
  const named = (body.input_images ?? []) as readonly string[];
  const param = "input_images";
  if (named.length === 0) {
    if (model.capabilities.has(`text_to_${what}`)) return [];
    throw new ApiError(
      "missing_field",
      `The field ${param} is missing: the model needs an image.`,
      {
        param,
      },
    );
  }
  if (!model.capabilities.has(`image_to_${what}`)) {
    throw new ApiError("capability_not_supported", `${model.id} does not accept input images.`, {
      param,
    });
  }
  const { max_input_images: most = 1 } = model.limits;
  if (named.length > Number(most)) {
    throw new ApiError("invalid_value", `${param} may not have more than ${most} entries.`, {
      param,
    });
  }
  const inputs: InputRef[] = [];
  for (const [at, name] of named.entries()) {
    const place = `${param}.${at}`;
    if (FILE_ID.test(name)) {
      const { id } = await ownFile({ files, account }, {
        id: name,
        param: place,
        kinds: ["image"],
      });
      inputs.push({ role: "image", file_id: id });
    } else {
      checkUrl(name, config.outbound, place, "A file id from POST /v1/files works too.");
      inputs.push({ role: "image", url: name });
    }
  }
  return inputs;
}

async function ownFile(
  { files, account }: Pick<GenerationCheck, "files" | "account">,
  { id, param, kinds }: { id: unknown; param: string; kinds: readonly StoredFile["kind"][] },
): Promise<StoredFile> {
  const file = await files.find(account, String(id));
  if (file === null) {
    throw new ApiError("file_not_found", "There is no such file: upload it with POST /v1/files.", {
      kind: "invalid_request",
      param,
    });
  }
  if (!kinds.includes(file.kind)) {
    throw new ApiError(
      "invalid_value",
      `${param} must be the id of ${
        kinds.map((kind) => FILE_KINDS[kind]).join(" or ")
      }: this file is ${FILE_KINDS[file.kind]}.`,
      { param },
    );
  }
  return file;
}

/** A parameter that must be one of the model's; left out, its first. Without a list anything goes. */
function oneOf(
  { model, body }: Pick<GenerationCheck, "model" | "body">,
  { name, limit, code }: { name: string; limit: string; code: ApiErrorCode },
): Record<string, string | number> {
  const offered = model.limits[limit];
  const asked = body[name] as string | number | undefined;
  if (!Array.isArray(offered)) return asked === undefined ? {} : { [name]: asked };
  if (asked === undefined) return { [name]: offered[0] };
  if (!offered.includes(asked)) throw notOffered(model, name, offered, code);
  return { [name]: asked };
}

/** Counted in characters as people see them, not in UTF-16 units. */
export function checkLength(model: Model, text: string, param: string): void {
  const { max_prompt_length } = model.limits;
  const most = typeof max_prompt_length === "number" ? max_prompt_length : DEFAULT_PROMPT_MAX;
  // No text has more characters than units.
  if (text.length <= most || [...text].length <= most) return;
  throw new ApiError("prompt_too_long", `${param} may not be longer than ${most} characters.`, {
    param,
  });
}

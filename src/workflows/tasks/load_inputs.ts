import { ApiError } from "../../lib/api_error.ts";
import type { Config } from "../../platform/config/config.ts";
import { OutboundError } from "../../platform/outbound/outbound_error.ts";
import type { MediaInput } from "../../upstream/media_adapter.ts";
import type { AssignedStep } from "./media_step.ts";
import type { InputRef } from "../../model_types/definition.ts";

const FETCH_TRIES = 3;

/**
 * A job's inputs as its upstream wants them. An account's own files are handed over as bytes, or as a
 * signed address where the gateway has a public one; addresses that a client named are passed on, or
 * fetched for an upstream that takes bytes only.
 */
export async function loadInputs(step: AssignedStep): Promise<MediaInput[]> {
  const wanted = step.deps.media.inputsFor(step.assignment);
  const inputs: MediaInput[] = [];
  for (const ref of step.task.job.inputs) {
    inputs.push(
      "file_id" in ref ? await fromFile(step, ref, wanted) : await fromAddress(step, ref, wanted),
    );
  }
  return inputs;
}

async function fromFile(
  { deps: { files }, task: { account_id: account }, assignment: { config } }: AssignedStep,
  { role, file_id }: InputRef & { file_id: string },
  wanted: "url" | "bytes",
): Promise<MediaInput> {
  const { uploads } = config.storage;
  const bytesMax = Math.max(uploads.imageBytesMax, uploads.audioBytesMax, uploads.videoBytesMax);
  if (wanted === "url" && isPublic(config)) {
    const file = await files.find(account, file_id);
    if (file !== null) {
      const { mimeType, filename } = file;
      const { url } = files.signedUrl(file_id, Date.now());
      return { role, mimeType, filename, url, bytes: null };
    }
  }
  const { file, bytes } = await files.openInput(account, file_id, bytesMax);
  return { role, mimeType: file.mimeType, filename: file.filename, url: null, bytes };
}

async function fromAddress(
  { deps, task, signal }: AssignedStep,
  { role, url }: InputRef & { url: string },
  wanted: "url" | "bytes",
): Promise<MediaInput> {
  if (wanted === "url") {
    return { role, mimeType: "image/*", filename: "input", url, bytes: null };
  }
  const { mimeType, bytes } = await deps.fetchInput(url, signal).catch((error) => {
    // The network may fail for a moment; after a few tries the URL is wrong.
    if (!(error instanceof OutboundError) || task.failures < FETCH_TRIES) throw error;
    throw new ApiError(
      "invalid_value",
      "An input image cannot be fetched: upload it and send its file id.",
      { param: "input_images", cause: error },
    );
  });
  return { role, mimeType, filename: "input", url, bytes };
}

/** Providers can reach the gateway only by a configured public URL. */
export function isPublic(config: Config): boolean {
  return config.service.baseUrl?.startsWith("https://") === true;
}

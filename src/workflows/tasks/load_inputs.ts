import { ApiError } from "../../lib/api_error.ts";
import type { Config } from "../../platform/config/config.ts";
import { OutboundError } from "../../platform/outbound/outbound_error.ts";
import type { MediaInput } from "../../upstream/media_adapter.ts";
import type { TaskDeps } from "./deps.ts";
import type { InputRef, MediaTask } from "./task.ts";

const FETCH_TRIES = 3;

/**
 * A job's inputs as its upstream wants them. An account's own files are handed over as bytes, or as a
 * signed address where the gateway has a public one; addresses that a client named are passed on, or
 * fetched for an upstream that takes bytes only.
 */
export async function loadInputs(
  deps: TaskDeps,
  config: Config,
  task: MediaTask,
  wanted: "url" | "bytes",
  signal: AbortSignal,
): Promise<MediaInput[]> {
  const inputs: MediaInput[] = [];
  for (const ref of task.job.inputs) {
    inputs.push(
      "file_id" in ref
        ? await fromFile(deps, config, task.account_id, ref, wanted)
        : await fromAddress(deps, task.failures, ref, wanted, signal),
    );
  }
  return inputs;
}

async function fromFile(
  { files }: TaskDeps,
  config: Config,
  account: string,
  { role, file_id }: InputRef & { file_id: string },
  wanted: "url" | "bytes",
): Promise<MediaInput> {
  const { uploads } = config.storage;
  const bytesMax = Math.max(uploads.image, uploads.audio, uploads.video);
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
  { fetchInput }: TaskDeps,
  failures: number,
  { role, url }: InputRef & { url: string },
  wanted: "url" | "bytes",
  signal: AbortSignal,
): Promise<MediaInput> {
  if (wanted === "url") {
    return { role, mimeType: "image/*", filename: "input", url, bytes: null };
  }
  const { mimeType, bytes } = await fetchInput(url, signal).catch((error) => {
    // A network has moods; after a few tries it is the address.
    if (!(error instanceof OutboundError) || failures < FETCH_TRIES) throw error;
    throw new ApiError(
      "invalid_value",
      "An input picture cannot be fetched: upload it and send its file id.",
      { param: "input_images", cause: error },
    );
  });
  return { role, mimeType, filename: "input", url, bytes };
}

/** Nobody outside can reach a gateway that does not say where it is. */
export function isPublic(config: Config): boolean {
  return config.service.baseUrl?.startsWith("https://") === true;
}

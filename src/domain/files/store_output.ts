import type { Config } from "../../platform/config/config.ts";
import { safeFilename } from "./filename.ts";
import {
  BadOutput,
  type MediaKind,
  type NewJson,
  type NewOutput,
  type StoredFile,
} from "./files.ts";
import { HashingReader } from "./hashing_reader.ts";
import { JSON_TEXT, RAW_AUDIO } from "./media_types.ts";
import { type FileParts, storeFile } from "./store_file.ts";

/** Outputs may be larger than uploads. */
const OUTPUT_BYTES_MAX: Readonly<Record<MediaKind, number>> = {
  image: 64 * 1024 * 1024,
  audio: 256 * 1024 * 1024,
  video: 2 * 1024 * 1024 * 1024,
};
const JSON_BYTES_MAX = 16 * 1024 * 1024;

/** What results are stored with. */
export interface OutputParts extends FileParts {
  /** The settings in force. */
  readonly storage: () => Config["storage"];
}

/** Stores a result. Throws `BadOutput` when the bytes are not what the model makes, or too many. */
export async function storeOutput(
  parts: OutputParts,
  account: string,
  { taskId, body, kind, mimeType, name = "output" }: NewOutput,
): Promise<StoredFile> {
  const reader = new HashingReader(body);
  try {
    const head = await reader.peek();
    const sniffed = await parts.probe.sniff(account, head);
    const type = sniffed.type ?? (mimeType === RAW_AUDIO.mimeType ? RAW_AUDIO : null);
    if (head.length === 0) throw new BadOutput("the output is empty");
    if (type?.kind !== kind) {
      throw new BadOutput(`the output is ${type?.mimeType ?? "no media"}, not ${kind}`);
    }
    return await storeFile(parts, {
      account,
      origin: "output",
      taskId,
      filename: safeFilename(`${name}.${type.extension}`, type.extension),
      type,
      sniffed: sniffed.facts,
      reader,
      bytesMax: OUTPUT_BYTES_MAX[kind],
      tooLarge: () => new BadOutput("the output is too large"),
      space: null,
      keepDays: parts.storage().outputs.keepDays,
    });
  } finally {
    await reader.close();
  }
}

/** Stores a result that is JSON. */
export async function storeJson(
  parts: OutputParts,
  account: string,
  { taskId, value, name }: NewJson,
): Promise<StoredFile> {
  const reader = new HashingReader(new TextEncoder().encode(JSON.stringify(value)));
  try {
    return await storeFile(parts, {
      account,
      origin: "output",
      taskId,
      filename: safeFilename(`${name}.${JSON_TEXT.extension}`, JSON_TEXT.extension),
      type: JSON_TEXT,
      sniffed: { width: null, height: null, durationMs: null },
      reader,
      bytesMax: JSON_BYTES_MAX,
      tooLarge: () => new BadOutput("the output is too large"),
      space: null,
      keepDays: parts.storage().outputs.keepDays,
    });
  } finally {
    await reader.close();
  }
}

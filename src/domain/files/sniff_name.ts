import { fileTypeFromBuffer } from "file-type";

/** Detects the MIME type from the bytes; empty where it is unknown. */
export async function sniffName(head: Uint8Array): Promise<string> {
  // The package throws for some files that are cut off: their type is unknown.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  return found?.mime ?? "";
}

import { fileTypeFromBuffer } from "file-type";

/** What bytes are, judged by the bytes; the empty name where that cannot be told. */
export async function sniffName(head: Uint8Array): Promise<string> {
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  return found?.mime ?? "";
}

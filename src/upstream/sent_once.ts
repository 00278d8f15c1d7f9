/**
 * A body that `fetch` sends once. Text and bytes are sent a second time when the connection closes before
 * an answer (denoland/deno#35610), which makes two paid jobs of one; a Blob and a form are not.
 */
export function sentOnce(
  body: string | Uint8Array<ArrayBuffer> | FormData | null,
): Blob | FormData | null {
  return body === null || body instanceof FormData ? body : new Blob([body]);
}

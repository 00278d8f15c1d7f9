/**
 * A body that `fetch` sends once. When the connection closes before a response, `fetch` sends text and bytes
 * a second time (denoland/deno#35610), which makes two paid jobs of one; it does not resend a Blob or a form.
 */
export function sentOnce(
  body: string | Uint8Array<ArrayBuffer> | FormData | null,
): Blob | FormData | null {
  return body === null || body instanceof FormData ? body : new Blob([body]);
}

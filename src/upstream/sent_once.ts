/**
 * A body that `fetch` sends once. When the connection closes before a response, `fetch` sends text and bytes
 * a second time (denoland/deno#35610), which makes two paid jobs of one; it does not resend a Blob.
 */
export function sentOnce(body: string | Uint8Array<ArrayBuffer> | null): Blob | null {
  return body === null ? null : new Blob([body]);
}

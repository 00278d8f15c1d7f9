import { type Http1Client } from "../../src/upstream/http1/client.ts";
import type { UpstreamRequest } from "../../src/upstream/adapter.ts";
import { readText } from "../../src/upstream/read_whole.ts";
import { say } from "./raw_server.ts";

export const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

export const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
export const never = () => new AbortController().signal;

export function asking(port: number, more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: "POST",
    url: `http://127.0.0.1:${port}/v1/x?y=1`,
    headers: {},
    body: "{}",
    ...more,
  };
}

/** The answer's status and text, or the failure's name. */
export async function ask(client: Http1Client, request: UpstreamRequest): Promise<string> {
  try {
    const response = await client.send(request, never());
    return `${response.status} ${await readText(response, 1_000_000)}`;
  } catch (error) {
    return (error as Error).name;
  }
}

/** Answers every request of a connection with the next of these; the last is followed by closing. */
export async function sayInTurn(connection: Deno.Conn, answers: readonly string[]): Promise<void> {
  for (const [at, text] of answers.entries()) {
    if (at > 0 && await connection.read(new Uint8Array(10_000)) === null) return;
    await say(connection, text);
  }
}

/** The other side's closing reaches us when it does. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resume) => setTimeout(resume, 5));
}

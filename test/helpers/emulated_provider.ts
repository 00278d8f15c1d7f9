import { openSimulator } from "../../providers/simulator/simulator.ts";
import type { Json } from "./chat_gateway.ts";
import { ANTHROPIC } from "./emulated_anthropic.ts";
import { GEMINI } from "./emulated_gemini.ts";

/**
 * What a provider's service looks like on the wire. Behind each stands the simulator, so that it answers
 * whatever it is asked (tools, schemas, streams), as no recording could.
 */
export interface Wire {
  /** The key as this provider wants it; anything else is refused. */
  isAuthorized(headers: Headers): boolean;
  /** The request in OpenAI's shape; null for an address that the service does not have. */
  read(url: URL, body: Json): Json | null;
  write(completion: Json): unknown;
  /** Lines of a stream for one chunk of OpenAI's; a writer remembers what is spread over chunks. */
  writer(): (chunk: Json | "[DONE]") => string;
}

export const EMULATED_KEY = "key-of-the-test";

/** OpenAI's own shape, wherever the provider serves it. */
const openaiAt = (path: RegExp, header = "authorization", prefix = "Bearer "): Wire => ({
  isAuthorized: (headers) => headers.get(header) === prefix + EMULATED_KEY,
  read: (url, body) => path.test(url.pathname) ? body : null,
  write: (completion) => completion,
  writer: () => (chunk) => `data: ${chunk === "[DONE]" ? chunk : JSON.stringify(chunk)}\n\n`,
});

const dialect = openaiAt(/^\/v1\/chat\/completions$/);

/** By adapter. */
export const WIRES: Readonly<Record<string, Wire>> = {
  openai: dialect,
  openai_compatible: dialect,
  groq: dialect,
  deepseek: dialect,
  openrouter: dialect,
  ollama: dialect,
  vllm: dialect,
  llama_cpp: dialect,
  azure_openai: openaiAt(/^\/v1\/openai\/deployments\/chat\/chat\/completions$/, "api-key", ""),
  anthropic: ANTHROPIC,
  gemini: GEMINI,
};

export interface EmulatedProvider extends AsyncDisposable {
  /** Ends in `/v1`. */
  baseUrl: string;
  /** Requests that it could not make sense of; a test wants none. */
  strange: string[];
}

export function serveProvider(adapter: string): EmulatedProvider {
  const wire = WIRES[adapter]!;
  const simulator = openSimulator({ defaults: "directives=off" });
  const strange: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const url = new URL(request.url);
    const asked = wire.read(url, await request.json());
    if (!wire.isAuthorized(request.headers) || asked === null) {
      strange.push(`${request.method} ${url.pathname}`);
      return Response.json({ error: { message: "no such thing" } }, { status: 404 });
    }
    const answer = await simulator.serve(
      new Request("http://simulator/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", "authorization": "Bearer any" },
        body: JSON.stringify({ ...asked, model: "chat" }),
        signal: request.signal,
      }),
    );
    if (!answer.ok) {
      strange.push(`${answer.status} ${await answer.text()}`);
      return Response.json({ error: { message: "not understood" } }, { status: 400 });
    }
    return asked.stream
      ? new Response(translate(answer.body!, wire.writer()), {
        headers: { "content-type": "text/event-stream" },
      })
      : Response.json(wire.write(await answer.json()));
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    strange,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function translate(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  write: ReturnType<Wire["writer"]>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let rest = "";
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TransformStream<string, string>({
      transform(text, controller) {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
          if (!line.startsWith("data: ")) continue;
          const piece = line.slice(6);
          controller.enqueue(write(piece === "[DONE]" ? piece : JSON.parse(piece)));
        }
      },
    }),
  ).pipeThrough(new TextEncoderStream());
}

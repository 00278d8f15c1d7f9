import type { Json } from "./chat_gateway.ts";

/**
 * An upstream that counts as dearly as any could: a token for every byte of text that reached it, the
 * documented count for images, and an answer as long as its limit allows. What it reports is what the
 * operator would have to pay, so nothing less may be charged.
 */
export interface CountingUpstream extends AsyncDisposable {
  readonly url: string;
  /** Bodies so far, oldest first. */
  readonly seen: readonly Json[];
  /** Reported for the request before last. */
  readonly counted: readonly Counted[];
}

export interface Counted {
  readonly input: number;
  readonly output: number;
}

export type CountingDialect = "openai" | "anthropic" | "gemini";

/** What a provider writes when it is told no limit. */
const OWN_LIMIT = 16_384;
/** What providers add by themselves: around a prompt, each message and tools. */
const AROUND = { prompt: 3, message: 4, tools: 530 };

export function startCountingUpstream(dialect: CountingDialect): CountingUpstream {
  const seen: Json[] = [];
  const counted: Counted[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.json();
    const usage = { input: inputOf(body), output: outputOf(body) };
    seen.push(body);
    counted.push(usage);
    return Response.json(REPLIES[dialect](usage));
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    counted,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const REPLIES: Record<CountingDialect, (usage: Counted) => unknown> = {
  openai: ({ input, output }) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
    usage: { prompt_tokens: input, completion_tokens: output },
  }),
  anthropic: ({ input, output }) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    usage: { input_tokens: input, output_tokens: output },
  }),
  gemini: ({ input, output }) => ({
    candidates: [{
      index: 0,
      content: { role: "model", parts: [{ text: "ok" }] },
      finishReason: "STOP",
    }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
  }),
};

function inputOf(body: Json): number {
  const { model: _model, stream: _stream, ...read } = body;
  const messages = body.messages ?? body.contents ?? [];
  const hasTools = body.tools !== undefined || body.functions !== undefined ||
    body.response_format !== undefined;
  return AROUND.prompt + AROUND.message * messages.length + (hasTools ? AROUND.tools : 0) +
    tokensIn(read);
}

/** A token for each byte of every text and key, wherever it stands; images by what they show. */
function tokensIn(value: Json): number {
  if (typeof value === "string") return new TextEncoder().encode(value).length;
  if (typeof value !== "object" || value === null) return 0;
  const image = imageIn(value);
  if (image !== null) return image;
  return Object.entries(value).reduce(
    (sum, [key, part]) => sum + (Array.isArray(value) ? 0 : key.length) + tokensIn(part),
    0,
  );
}

function imageIn(value: Json): number | null {
  // OpenAI's rule for gpt-4o-mini: a base, and tiles of 512 pixels of the image scaled to fit.
  if (typeof value.image_url?.url === "string") {
    if (value.image_url.detail === "low") return 2833;
    const { width, height } = pngSize(value.image_url.url.split(",")[1]);
    let [across, down] = [width, height];
    const fitted = Math.min(1, 2048 / Math.max(across, down));
    [across, down] = [across * fitted, down * fitted];
    const shrunk = Math.min(1, 768 / Math.min(across, down));
    return 2833 + 5667 * Math.ceil(across * shrunk / 512) * Math.ceil(down * shrunk / 512);
  }
  // Anthropic: the area over 750, within what it is scaled down to.
  if (value.type === "image") {
    const { width, height } = pngSize(value.source.data);
    const scale = Math.min(1, 1568 / Math.max(width, height));
    return Math.min(1600, Math.ceil(width * scale * height * scale / 750));
  }
  // Gemini: 258 for each tile, which is two thirds of the shorter side.
  if (value.inlineData !== undefined) {
    const { width, height } = pngSize(value.inlineData.data);
    if (width <= 384 && height <= 384) return 258;
    const edge = Math.max(1, Math.floor(Math.min(width, height) / 1.5));
    return 258 * Math.ceil(width / edge) * Math.ceil(height / edge);
  }
  return null;
}

function outputOf(body: Json): number {
  const limits = [
    body.max_completion_tokens,
    body.max_tokens,
    body.generationConfig?.maxOutputTokens,
  ].filter((limit) => limit !== undefined);
  if (limits.length > 1) throw new Error("two limits were sent");
  const predicted = body.prediction === undefined ? 0 : tokensIn(body.prediction);
  const choices = body.n ?? body.generationConfig?.candidateCount ?? 1;
  return (limits[0] ?? OWN_LIMIT) * choices + predicted;
}

/** The first bytes of a PNG, enough to tell its size. */
export function pngHead(width: number, height: number): string {
  const bytes = new Uint8Array(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes.toBase64();
}

function pngSize(base64: string): { width: number; height: number } {
  const view = new DataView(Uint8Array.fromBase64(base64).buffer);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

import { withArticle } from "../../lib/model_types.ts";
import { ApiError } from "../../lib/api_error.ts";
import { type ChatDeps, completeChat } from "../../workflows/chat/complete_chat.ts";
import { prepareChat } from "../../workflows/chat/prepare_chat.ts";
import type { Limiter } from "../../domain/limits/limiter.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { bodySchema } from "../body_schema.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { noticeHeaders, usableModel } from "./retrieve_model.ts";
import schema from "../../../schemas/requests/chat_completions.schema.json" with { type: "json" };

export const chatRequest = bodySchema<ChatRequest>(schema, { nullIsAbsent: true });

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Proxies that buffer would make a stream arrive at once, at its end.
  "x-accel-buffering": "no",
};

export interface ChatEndpointDeps {
  chat: ChatDeps;
  limiter: Limiter;
}

/** POST /v1/chat/completions. The story is in chat/complete_chat.ts. */
export function chatCompletions({ chat, limiter }: ChatEndpointDeps): Endpoint {
  return async function chatCompletions(c) {
    const request = chatRequest(await readJson(c));
    const model = usableModel(c, request.model);
    if (model.type !== "chat") {
      throw new ApiError(
        "capability_not_supported",
        `${model.id} is ${withArticle(model.type)} model, not a chat model. ` +
          "GET /v1/models?type=chat lists those.",
        { param: "model" },
      );
    }
    const prepared = prepareChat(chat.upstreams, c.env.config, model, request);
    const reserved = await reserveTokens(c, limiter, prepared.maxUsage);
    const answer = await completeChat(chat, {
      requestId: c.env.requestId,
      clientRequestId: c.env.clientRequestId,
      config: c.env.config,
      account: accountOf(c),
      model,
      prepared,
      signal: c.req.raw.signal,
      // An upstream's count may be absurd: it costs a key at most what was reserved once more.
      onTokens: (tokens) => correctTokens(c, limiter, Math.min(tokens, 2 * reserved) - reserved),
      onOver: () => c.env.body?.release(),
    }).catch((error) => {
      correctTokens(c, limiter, -reserved);
      throw error;
    });
    const notice = noticeHeaders(model);
    if ("stream" in answer) c.env.body?.keep();
    return "json" in answer
      ? sendJson(answer.json, 200, notice)
      : new Response(answer.stream, { headers: { ...STREAM_HEADERS, ...notice } });
  };
}

/** The worst case is taken beforehand, as with money, so that many requests at once cannot outrun the rate. */
async function reserveTokens(
  c: HttpContext,
  limiter: Limiter,
  { input_tokens = 0, output_tokens = 0 }: Usage,
): Promise<number> {
  const { key, perMinute } = tokenRate(c);
  // A request larger than the rate itself may pass when the whole minute is there.
  const amount = Math.min(input_tokens + output_tokens, perMinute);
  const taken = limiter.take(key, perMinute, amount, performance.now());
  const { allowed, retryAfterSeconds } = taken instanceof Promise ? await taken : taken;
  if (allowed) return amount;
  throw new ApiError(
    "rate_limit_exceeded",
    `Too many tokens: this key may use ${perMinute} a minute.`,
    {
      retryAfterSeconds,
    },
  );
}

function correctTokens(c: HttpContext, limiter: Limiter, tokens: number): void {
  const { key, perMinute } = tokenRate(c);
  limiter.owe(key, perMinute, tokens, performance.now());
}

function tokenRate(c: HttpContext): { key: string; perMinute: number } {
  return {
    key: `${c.env.caller!.key} tokens`,
    perMinute: c.env.accountPlan!.rates.tokensPerMinute,
  };
}

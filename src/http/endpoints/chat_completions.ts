import { Refusal } from "../../base/refusal.ts";
import { type ChatDeps, completeChat } from "../../chat/complete_chat.ts";
import type { RateLimiter } from "../../limits/rate_limit.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { bodySchema } from "../body_schema.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { noticeHeaders, usableModel } from "./retrieve_model.ts";
import schema from "../../../schemas/requests/chat_completions.schema.json" with { type: "json" };

const chatRequest = bodySchema<ChatRequest>(schema);

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Proxies that buffer would make a stream arrive at once, at its end.
  "x-accel-buffering": "no",
};

export interface ChatEndpointDeps {
  chat: ChatDeps;
  limiter: RateLimiter;
}

/** POST /v1/chat/completions. The story is in chat/complete_chat.ts. */
export function chatCompletions({ chat, limiter }: ChatEndpointDeps): Endpoint {
  return async function chatCompletions(c) {
    const request = chatRequest(await readJson(c));
    const model = usableModel(c, request.model);
    checkTokenRate(c, limiter);
    const answer = await completeChat(chat, {
      requestId: c.env.requestId,
      clientRequestId: c.env.clientRequestId,
      plan: c.env.plan,
      account: accountOf(c),
      model,
      request,
      signal: c.req.raw.signal,
      onTokens: (tokens) => spendTokens(c, limiter, tokens),
    });
    const notice = noticeHeaders(model);
    return "json" in answer
      ? sendJson(answer.json, 200, notice)
      : new Response(answer.stream, { headers: { ...STREAM_HEADERS, ...notice } });
  };
}

/** Tokens are known only afterwards: a key in debt waits until its minute has made up for it. */
function checkTokenRate(c: HttpContext, limiter: RateLimiter): void {
  const { key, perMinute } = tokenRate(c);
  const { allowed, retryAfterSeconds } = limiter.take(key, perMinute, 1, c.env.startedAt);
  if (allowed) return;
  throw new Refusal(
    "rate_limit_exceeded",
    `Too many tokens: this key may use ${perMinute} a minute.`,
    {
      retryAfterSeconds,
    },
  );
}

function spendTokens(c: HttpContext, limiter: RateLimiter, tokens: number): void {
  const { key, perMinute } = tokenRate(c);
  limiter.owe(key, perMinute, tokens, performance.now());
}

function tokenRate(c: HttpContext): { key: string; perMinute: number } {
  return {
    key: `${c.env.caller!.key} tokens`,
    perMinute: c.env.accountPlan!.rates.tokensPerMinute,
  };
}

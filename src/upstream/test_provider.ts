import { ApiError } from "../lib/api_error.ts";
import type { Config, Model, Upstream } from "../platform/config/config.ts";
import { describeError } from "../platform/telemetry/log.ts";
import { scrub } from "../platform/telemetry/scrub.ts";
import { UpstreamFailure } from "./failure.ts";
import type { Upstreams } from "./upstreams.ts";

/** What came back of one small chat, for operators. */
export interface ProviderTest {
  object: "provider_test";
  provider: string;
  model: string;
  upstream_model: string;
  ok: boolean;
  /** As of an attempt: `ok`, `unauthorized`, `timeout`, … */
  outcome: string;
  /** HTTP status, if the provider answered with an error. */
  status: number | null;
  duration_ms: number;
  /** The reply, or what the provider says instead; shortened. */
  text: string;
}

const REQUEST = {
  messages: [{ role: "user", content: "Reply with the word OK." }],
  max_tokens: 16,
};
const TEXT_MAX = 500;

/**
 * Sends one small chat to a provider: through none of the limits, breakers and prices of requests, and no account is
 * charged. Without a model, the first chat model that the provider serves.
 */
export async function testProvider(
  upstreams: Upstreams,
  config: Config,
  { provider, model: wanted, signal }: {
    provider: string;
    model?: string | undefined;
    signal: AbortSignal;
  },
): Promise<ProviderTest> {
  const { model, upstream } = findChatModel(config, provider, wanted);
  const tested = { provider, model: model.id, upstream_model: upstream.model };
  const startedAt = performance.now();
  const result = await upstreams.callOnce(config, model, upstream, {
    request: { model: model.id, ...REQUEST },
    signal,
  }).then(
    (reply) => {
      const [choice] = reply.choices;
      const text = choice?.message.content ?? "";
      return { ok: true, outcome: "ok", status: null, text };
    },
    (error) => toFailedTest(error),
  );
  const duration = Math.round(performance.now() - startedAt);
  const text = scrub(result.text).slice(0, TEXT_MAX);
  return { object: "provider_test", ...tested, ...result, duration_ms: duration, text };
}

function toFailedTest(error: unknown): Pick<ProviderTest, "ok" | "outcome" | "status" | "text"> {
  if (!(error instanceof UpstreamFailure)) throw error;
  const { kind, message, options: { status = null, cause } } = error;
  const words = cause === undefined
    ? message
    : typeof cause === "string"
    ? cause
    : describeError(cause).split("\n", 1)[0]!;
  return { ok: false, outcome: kind, status, text: words };
}

function findChatModel(
  config: Config,
  provider: string,
  wanted: string | undefined,
): { model: Model; upstream: Upstream } {
  const configured = config.providers.get(provider);
  if (configured === undefined) {
    throw new ApiError("not_found", `There is no provider "${provider}".`, { param: "id" });
  }
  if (!configured.on) {
    throw new ApiError("invalid_value", `The provider "${provider}" is disabled: it has no key.`, {
      param: "id",
    });
  }
  for (const model of config.models.values()) {
    if (model.type !== "chat" || (wanted !== undefined && model.id !== wanted)) continue;
    const upstream = model.upstreams.find((each) => each.provider === provider);
    if (upstream !== undefined) return { model, upstream };
  }
  throw new ApiError(
    "invalid_value",
    wanted === undefined
      ? `The provider "${provider}" serves no chat model, and only chats are tested.`
      : `The provider "${provider}" serves no chat model "${wanted}".`,
    { param: "model" },
  );
}

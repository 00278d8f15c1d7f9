import { countFloats } from "../lib/json_vectors.ts";
import { checkEmbeddings, maxDimensions } from "../model_types/embedding.ts";
import { ApiError } from "../lib/api_error.ts";
import type { Config, Model, Upstream } from "../platform/config/config.ts";
import { describeError } from "../platform/telemetry/log.ts";
import { scrub } from "../platform/telemetry/scrub.ts";
import { type Attempt, callChat } from "./call_chat.ts";
import { callEmbeddings } from "./call_embeddings.ts";
import { UpstreamFailure } from "./failure.ts";
import type { Upstreams } from "./upstreams.ts";

/** What came back of one small request, for operators. */
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

const CHAT = {
  messages: [{ role: "user", content: "Reply with the word OK." }],
  max_tokens: 16,
};
const EMBEDDING = { input: "OK" };
/** The types that one small request can test, the preferred one first. */
const TESTED_TYPES = ["chat", "embedding"];
const TEXT_MAX = 500;

/**
 * Sends one small chat, or one text to embed, to a provider: through none of the limits, breakers and prices of requests,
 * and no account is charged. Without a model, the first chat model that the provider serves, or else the first embedding
 * model.
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
  const { model, upstream } = findTestedModel(config, provider, wanted);
  const tested = { provider, model: model.id, upstream_model: upstream.model };
  const startedAt = performance.now();
  const ask = model.type === "chat" ? askChat : askEmbedding;
  const result = await upstreams.callOnce(
    { config, model, signal },
    upstream,
    (attempt) => ask({ upstreams, config, model, attempt }),
  ).then(
    (text) => ({ ok: true, outcome: "ok", status: null, text }),
    (error) => toFailedTest(error),
  );
  const duration = Math.round(performance.now() - startedAt);
  const text = scrub(result.text).slice(0, TEXT_MAX);
  return { object: "provider_test", ...tested, ...result, duration_ms: duration, text };
}

interface Asked {
  upstreams: Upstreams;
  config: Config;
  model: Model;
  attempt: Attempt;
}

/** The words of the reply. */
async function askChat({ upstreams, config, model, attempt }: Asked): Promise<string> {
  const request = { model: model.id, ...CHAT };
  const reply = await callChat(
    attempt,
    upstreams.write(config, model, attempt.upstream, request),
  );
  return reply.choices[0]?.message.content ?? "";
}

/** What a person can tell of a vector: its length. */
async function askEmbedding({ upstreams, config, model, attempt }: Asked): Promise<string> {
  const request = checkEmbeddings(model, EMBEDDING);
  const { vectors, tokens } = await callEmbeddings(attempt, {
    request,
    target: upstreams.targetOf(config, model, attempt.upstream),
    original: EMBEDDING,
    dimensionsMax: maxDimensions(model, request),
  });
  const counted = tokens === null ? "" : `, ${tokens} tokens`;
  return `a vector of ${countFloats(vectors[0]!)} numbers${counted}`;
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

function findTestedModel(
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
  const served = [...config.models.values()].flatMap((model) => {
    const upstream = model.upstreams.find((each) => each.provider === provider);
    return upstream === undefined || (wanted ?? model.id) !== model.id ? [] : [{ model, upstream }];
  });
  for (const type of TESTED_TYPES) {
    const found = served.find(({ model }) => model.type === type);
    if (found !== undefined) return found;
  }
  throw new ApiError(
    "invalid_value",
    wanted === undefined
      ? `The provider "${provider}" serves no model for chat or embeddings, and only those are tested.`
      : `The provider "${provider}" serves no model "${wanted}" for chat or embeddings.`,
    { param: "model" },
  );
}

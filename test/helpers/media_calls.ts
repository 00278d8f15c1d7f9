import assert from "node:assert/strict";
import { Adapters } from "../../providers/adapters.ts";
import { buildCapabilities } from "../../src/app/build_capabilities.ts";
import { compileOrThrow } from "../../src/platform/config/compile.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { Outbound } from "../../src/platform/outbound/safe_fetch.ts";
import { Admission } from "../../src/upstream/admission.ts";
import { openMediaCalls } from "../../src/upstream/call_media.ts";
import { Http1Client } from "../../src/upstream/http1/client.ts";
import type { MediaJob, MediaJobType } from "../../src/upstream/media_adapter.ts";
import type { MediaCalls, UpstreamAssignment } from "../../src/upstream/media_calls.ts";

const adapters = new Adapters();

const PRICES: Record<MediaJobType, string> = {
  image: "billing_type: per_call, price: '1', unit: image",
  video: "billing_type: duration, price: '1', unit: second",
  avatar: "billing_type: duration, price: '1', unit: second",
  speech: "billing_type: per_call, price: '1', unit: 1K characters",
};
const CAPABILITIES: Record<MediaJobType, string> = {
  image: "text_to_image",
  video: "text_to_video",
  avatar: "audio_to_avatar",
  speech: "text_to_speech",
};

/** A job, and a service that takes it. */
export const VIDEO_JOB: MediaJob = {
  type: "video",
  reference: "task_1",
  prompt: "a tide",
  parameters: { duration: 5, aspect_ratio: "16:9" },
  inputs: [],
  callbackUrl: null,
};
export const RUNWAY = { adapter: "runway", type: "video", model: "gen4.5" } as const;

export interface MediaUpstreamOptions {
  adapter: string;
  type: MediaJobType;
  model: string;
  baseUrl: string;
  extraBody?: unknown;
  /** More keys of the provider, and more providers and upstreams, as YAML. */
  provider?: string;
  timeoutSeconds?: number;
  file?: string;
  /** Sends submissions instead of a client of its own; null: `fetch` sends them. */
  http1?: Http1Client | null;
}

export const CANARY_KEY = "sk-canary";

/** One model on one upstream, in a plan of its own. */
export function planOf(options: MediaUpstreamOptions): Config {
  const { type, extraBody } = options;
  const source = `
providers:
  p: { adapter: "${options.adapter}", base_url: "${options.baseUrl}", api_key: "\${KEY}", headers: { X-Declared: "yes" } ${
    options.provider === undefined ? "" : `, ${options.provider}`
  } }
models:
  - id: m
    name: M
    type: ${type}
    capabilities: [${CAPABILITIES[type]}]
    upstreams:
      - provider: p
        model: ${JSON.stringify(options.model)}
        timeout_seconds: ${options.timeoutSeconds ?? 10}
        ${extraBody === undefined ? "" : `extra_body: ${JSON.stringify(extraBody)}`}
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: m, ${PRICES[type]} }] }
outbound: { allow_private: true }
`;
  const file = options.file ?? "gateway.yaml";
  const environment = { KEY: CANARY_KEY };
  return compileOrThrow({
    file,
    source,
    environment,
    capabilities: buildCapabilities(adapters),
    now: Date.now(),
  })
    .config;
}

export interface MediaUnderTest extends Disposable {
  readonly calls: MediaCalls;
  readonly admission: Admission;
  readonly assignment: UpstreamAssignment;
  /** How attempts went, in order. */
  readonly attempts: (string | null)[];
}

/** The real calls to one upstream. */
export function openMedia(options: MediaUpstreamOptions): MediaUnderTest {
  const config = planOf(options);
  const model = config.models.get("m");
  assert.ok(model !== undefined);
  const attempts: (string | null)[] = [];
  const admission = new Admission({
    adapters,
    onAttempt: ({ failure }) => void attempts.push(failure?.kind ?? null),
  });
  const outbound = new Outbound();
  const ownClient = new Http1Client();
  const http1 = options.http1 === undefined ? ownClient : options.http1;
  return {
    calls: openMediaCalls({
      silenceMs: 30_000,
      admission,
      http1,
      fetchSafely: (request, policy) => outbound.fetch(request, policy),
    }),
    admission,
    assignment: { config, model, upstream: model.upstreams[0]! },
    attempts,
    [Symbol.dispose]() {
      outbound[Symbol.dispose]();
      ownClient[Symbol.dispose]();
    },
  };
}

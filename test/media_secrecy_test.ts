/**
 * Everything that media providers are recorded to say, said to a gateway: nothing of it, nor of who said
 * it, may show in answers, tasks, receipts, headers or logs.
 */
import assert from "node:assert/strict";
import { openAdapters } from "../providers/registry.ts";
import type { MediaJobType } from "../src/upstream/media_adapter.ts";
import {
  type FakeUpstream,
  type RecordedJob,
  type RecordedMediaFile,
  recordedMediaFiles,
  type RecordedReply,
  startFakeUpstream,
} from "./helpers/fake_upstream.ts";
import { png, wav } from "./helpers/media.ts";
import { linesAboveDebug } from "./helpers/logs.ts";
import { type MediaGateway, openMediaGateway } from "./helpers/media_gateway.ts";

const PRICES: Record<MediaJobType, string> = {
  image: "billing_type: per_call, price: '0.01', unit: image",
  video: "billing_type: duration, price: '0.01', unit: second",
  avatar: "billing_type: duration, price: '0.01', unit: second",
  speech: "billing_type: per_call, price: '0.01', unit: 1K characters",
};
const MODELS: Record<MediaJobType, string> = {
  image: "capabilities: [text_to_image], limits: { sizes: [1024x1024] }",
  video: "capabilities: [text_to_video], limits: { durations: [5], aspect_ratios: ['16:9'] }",
  avatar: "capabilities: [audio_to_avatar], limits: { aspect_ratios: ['9:16'] }",
  speech: "capabilities: [text_to_speech], limits: { voices: [rachel], formats: [mp3] }",
};
const PATHS: Record<MediaJobType, string> = {
  image: "/v1/images/generations",
  video: "/v1/videos/generations",
  avatar: "/v1/avatars/generations",
  speech: "/v1/audio/speech",
};

/** A case with a provider and a model of its own, so that all can run at once. */
interface Staged {
  readonly file: RecordedMediaFile;
  readonly recorded: RecordedJob;
  readonly upstream: FakeUpstream;
}

/** Rounds that a task makes before it gives up. */
const ROUNDS = 4;

/** What is answered from submission to end; a case that has none of its own ends like the first. */
function repliesOf({ cases: [first] }: RecordedMediaFile, recorded: RecordedJob): RecordedReply[] {
  const repliesTo = (job: RecordedJob, verb: string) =>
    job.steps.filter((step) => step.do === verb)
      .flatMap(({ exchanges = [] }) => exchanges.map(({ reply }) => reply));
  const submission = repliesTo(recorded, "submit");
  if (recorded.steps.some((step) => step.do === "submit" && step.fails !== undefined)) {
    // A provider that can be asked says that it does not have the job.
    const missing = repliesTo(recorded, "find");
    if (missing.length > 0) return [...submission, ...missing];
    return Array.from({ length: ROUNDS }, () => submission).flat();
  }
  return [
    ...(submission.length > 0 ? submission : repliesTo(first!, "submit")),
    ...repliesTo(recorded, "poll"),
    ...repliesTo(first!, "poll"),
    { status: 200, headers: { "x-canary": "canary" }, text: "canary, and no file at all" },
  ];
}

function configOf(provider: string, staged: readonly Staged[]): string {
  const lines = (tell: (one: Staged, at: number) => string) => staged.map(tell).join("\n");
  return `
limits: { default: { requests_per_minute: 1000000, running_tasks: 1000 } }
outbound: { allow_private: true }
providers:
${
    lines(({ file, upstream }, at) =>
      `  canary-${at}: { adapter: ./${provider}.yaml, base_url: "${upstream.url}${file.base_path}", api_key: "\${KEY}", headers: { x-canary: canary-header } }`
    )
  }
models:
${
    lines(({ file: { type, model } }, at) =>
      `  - { id: m${at}, name: M, type: ${type}, ${
        MODELS[type]
      }, upstreams: [{ provider: canary-${at}, model: "${model}", timeout_seconds: 5 }] }`
    )
  }
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
${lines(({ file: { type } }, at) => `      - { model: m${at}, ${PRICES[type]} }`)}
`;
}

/** The shipped file, with looks in quick succession. */
async function hurried(provider: string): Promise<string> {
  const source = await Deno.readTextFile(
    new URL(`../providers/${provider}/provider.yaml`, import.meta.url),
  );
  return source.replaceAll(/polling: \{.*\}/g, "polling: { first_seconds: 0.1, max_seconds: 0.2 }");
}

async function bodyOf(gateway: MediaGateway, type: MediaJobType, model: string) {
  switch (type) {
    case "image":
      return { model, prompt: "a quiet harbour", size: "1024x1024" };
    case "video":
      return { model, prompt: "a quiet harbour", duration: 5, aspect_ratio: "16:9" };
    case "speech":
      return { model, input: "A quiet harbour.", voice: "rachel", response_format: "mp3" };
    case "avatar":
      return {
        model,
        avatar_file_id: await gateway.upload("face.png", png()),
        audio_file_id: await gateway.upload("voice.wav", wav()),
        aspect_ratio: "9:16",
      };
  }
}

const providers = [...openAdapters().keys()].filter((name) => recordedMediaFiles(name).size > 0);

for (const provider of providers) {
  Deno.test(`nothing of ${provider} shows in tasks, answers, receipts, headers or logs`, async () => {
    await using parts = new AsyncDisposableStack();
    const staged = [...recordedMediaFiles(provider).values()].flatMap((file) =>
      file.cases.map((recorded) => {
        const upstream = parts.use(startFakeUpstream());
        upstream.answer(
          ...JSON.parse(
            JSON.stringify(repliesOf(file, recorded)).replaceAll("{url}", upstream.url),
          ),
        );
        return { file, recorded, upstream };
      })
    );
    await using gateway = await openMediaGateway({
      config: configOf(provider, staged),
      files: { [`${provider}.yaml`]: await hurried(provider) },
      environment: { KEY: "sk-canary" },
      cash: "100",
    });
    const told = await Promise.all(staged.map(async ({ file: { type }, upstream }, at) => {
      const body = await bodyOf(gateway, type, `m${at}`);
      const res = await gateway.post(PATHS[type], body, { prefer: "respond-async" });
      assert.equal(res.status, 202, await res.clone().text());
      const task = await res.json();
      const done = await gateway.ended(task.id, 120);
      const receipt = await gateway.get(`/v1/usage/${res.headers.get("x-request-id")}`);
      assert.ok(upstream.seen.length > 0, "the provider was asked");
      return JSON.stringify([[...res.headers], task, done, await receipt.text()]);
    }));
    for (const [at, text] of told.entries()) {
      const { recorded: { name }, upstream } = staged[at]!;
      const { host } = new URL(upstream.url);
      const traces = ["canary", host].filter((trace) => text.toLowerCase().includes(trace));
      assert.deepEqual(traces, [], `${name}: ${text}`);
    }
    const info = linesAboveDebug(gateway.logged());
    assert.deepEqual(info.filter((line) => line.includes("canary")), []);
    await gateway.verify();
  });
}

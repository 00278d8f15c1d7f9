/**
 * Every media adapter against the documented requests, answers and errors of its provider, through the
 * gateway's own calls and over real HTTP. The recordings are in providers/<name>/recorded/media_*.json;
 * `canary` stands in them wherever a provider says something about itself.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { openAdapters } from "../providers/registry.ts";
import { UpstreamFailure } from "../src/upstream/failure.ts";
import type { JobStatus, MediaJob, UpstreamOutput } from "../src/upstream/media_adapter.ts";
import {
  type FakeUpstream,
  type RecordedJob,
  type RecordedMediaFile,
  recordedMediaFiles,
  type RecordedSent,
  type RecordedStep,
  type SeenRequest,
  startFakeUpstream,
} from "./helpers/fake_upstream.ts";
import { type MediaUnderTest, openMedia } from "./helpers/media_calls.ts";

const ADAPTERS = openAdapters();
const recordings = [...ADAPTERS.keys()].flatMap((provider) =>
  [...recordedMediaFiles(provider)].map(([name, file]) => ({ provider, name, file }))
);

for (const { provider, name, file } of recordings) {
  for (const recorded of file.cases) {
    Deno.test({
      name: `${provider}/${name} ${recorded.name}`,
      sanitizeOps: true,
      sanitizeResources: true,
      async fn() {
        await using upstream = startFakeUpstream();
        using media = openMedia({
          adapter: provider,
          type: file.type,
          model: recorded.model ?? file.model,
          baseUrl: upstream.url + file.base_path,
          extraBody: recorded.extra_body,
        });
        await walk(media, file, recorded, upstream);
      },
    });
  }
}

async function walk(
  media: MediaUnderTest,
  file: RecordedMediaFile,
  recorded: RecordedJob,
  upstream: FakeUpstream,
): Promise<void> {
  const told = { id: "job-1", outputs: [] as readonly UpstreamOutput[] };
  for (const step of filledIn(recorded.steps, upstream.url)) {
    const before = upstream.seen.length;
    upstream.answer(...step.exchanges?.map(({ reply }) => reply) ?? []);
    await take(media, jobOf(file, recorded), step, told);
    const seen = upstream.seen.slice(before);
    assert.equal(seen.length, step.exchanges?.length ?? 0, "as many requests as recorded");
    for (const [at, { sent }] of (step.exchanges ?? []).entries()) {
      await checkSent(seen[at]!, sent ?? {});
    }
  }
}

async function take(
  { calls, assignment }: MediaUnderTest,
  job: MediaJob,
  step: RecordedStep,
  told: { id: string; outputs: readonly UpstreamOutput[] },
): Promise<void> {
  const { signal } = new AbortController();
  const verbs: Record<RecordedStep["do"], () => Promise<unknown>> = {
    submit: () => calls.submit(assignment, job, signal),
    poll: () => calls.getStatus(assignment, told.id, signal),
    cancel: () => calls.cancel(assignment, told.id, signal),
    find: () => calls.find(assignment, job.reference, signal),
    callback: () => calls.readCallback(assignment, step.body),
    fetch: async () => {
      const { body, mimeType } = await calls.fetchOutput(assignment, told.outputs[0]!, signal);
      return { text: await new Response(body).text(), mimeType };
    },
  };
  if (step.fails !== undefined) {
    await assert.rejects(verbs[step.do](), (error) => {
      assert.ok(error instanceof UpstreamFailure, String(error));
      const { kind, received, options: { param } } = error;
      assert.deepEqual({ kind, received, ...(param === undefined ? {} : { param }) }, step.fails);
      // What a client may be told is made of these alone.
      hidesProvider({ kind, param });
      return true;
    });
    return;
  }
  const given = await verbs[step.do]();
  if (given !== null && typeof given === "object") {
    const { id, status, outputs } = given as {
      id?: string;
      status?: JobStatus;
      outputs?: UpstreamOutput[];
    };
    told.id = id ?? told.id;
    if (outputs !== undefined) told.outputs = outputs;
    if (status?.state === "succeeded") told.outputs = status.outputs;
    hidesProvider(withoutAddresses(given));
  }
  assert.deepEqual(readable(given), step.gives ?? null);
}

function jobOf(file: RecordedMediaFile, recorded: RecordedJob): MediaJob {
  return {
    type: file.type,
    reference: "task_1",
    prompt: recorded.prompt ?? null,
    parameters: recorded.parameters ?? {},
    inputs: (recorded.inputs ?? []).map(({ role, text, url, mime }) => ({
      role,
      mimeType: mime ?? (role === "audio" ? "audio/mpeg" : "image/png"),
      filename: role === "audio" ? "audio.mp3" : "image.png",
      url: url ?? null,
      bytes: new TextEncoder().encode(text),
    })),
    callbackUrl: recorded.callback_url ?? null,
  };
}

async function checkSent(seen: SeenRequest, sent: RecordedSent): Promise<void> {
  assert.equal(seen.headers.get("x-declared"), "yes");
  if (sent.method !== undefined) assert.equal(seen.method, sent.method);
  if (sent.path !== undefined) assert.equal(seen.path, sent.path);
  for (const [name, value] of Object.entries(sent.headers ?? {})) {
    assert.equal(seen.headers.get(name), value, name);
  }
  if (sent.body !== undefined) {
    assert.equal(seen.headers.get("content-type"), "application/json");
    assert.deepEqual(JSON.parse(seen.body), sent.body);
  }
  if (sent.text !== undefined) assert.equal(seen.body, sent.text);
  if (sent.form !== undefined) assert.deepEqual(await formOf(seen), sent.form);
}

async function formOf({ body, headers }: SeenRequest): Promise<Record<string, unknown>> {
  const type = headers.get("content-type") ?? "";
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = await Promise.all(
      form.getAll(name).map((value) =>
        typeof value === "string"
          ? value
          : value.text().then((text) => `${value.name} ${value.type} ${text}`)
      ),
    );
    fields[name] = values.length === 1 ? values[0] : values;
  }
  return fields;
}

function filledIn(steps: readonly RecordedStep[], url: string): readonly RecordedStep[] {
  return JSON.parse(JSON.stringify(steps).replaceAll("{url}", url));
}

/** As JSON would have it, with bytes as text. */
function readable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(
    value,
    (_key, part) => part instanceof Uint8Array ? new TextDecoder().decode(part) : part,
  ));
}

/** Addresses of outputs and ids of jobs stay inside: a task copies the files and names itself. */
function withoutAddresses(given: object): unknown {
  return JSON.parse(
    JSON.stringify(given, (key, part) => ["url", "id", "bytes"].includes(key) ? undefined : part),
  );
}

function hidesProvider(seenByClients: unknown): void {
  assert.doesNotMatch(JSON.stringify(seenByClients), /canary/i);
}

Deno.test("every media provider has recordings of what it must be able to do", () => {
  const kinds: Record<string, readonly RegExp[]> = {
    openai: [/makes an image/, /edits/, /speaks/, /video/, /progress/, /moderation/],
    replicate: [/makes an image/, /video/, /cancel/, /webhook/, /fail/],
    fal: [/makes an image/, /video/, /cancel/, /webhook/, /fail/],
    runway: [/from an image/, /from text/, /cancel/, /progress/, /safety/i],
    elevenlabs: [/mp3/, /pcm/, /voice/, /quota/],
    heygen: [/upload/, /talk/, /find/, /fail/],
  };
  const shipped = [...ADAPTERS].filter(([name, { media }]) => name !== "simulator" && media);
  assert.deepEqual(Object.keys(kinds).toSorted(), shipped.map(([name]) => name).toSorted());
  const errors = [/401/, /429/, /5\d\d/];
  for (const [provider, wanted] of Object.entries(kinds)) {
    const names = recordings.filter((one) => one.provider === provider)
      .flatMap(({ file }) => file.cases.map(({ name }) => name));
    const missing = [...wanted, ...errors].filter((kind) => !names.some((name) => kind.test(name)));
    assert.deepEqual(missing, [], provider);
  }
});

Deno.test("adapters make what the registry says they make", () => {
  for (const [name, adapter] of ADAPTERS) {
    if (name === "simulator") continue;
    const made = [
      ...adapter.chat === undefined ? [] : ["chat"],
      ...adapter.embeddings === undefined ? [] : ["embedding"],
      ...Object.keys(adapter.media ?? {}),
    ];
    assert.deepEqual([...adapter.types].toSorted(), made.toSorted(), name);
  }
});

Deno.test("whatever JSON a provider sends is a state or a failure, and tells nothing of it", async () => {
  const words = fc.constantFrom(
    "canary",
    "id",
    "status",
    "SUCCEEDED",
    "failed",
    "https://canary.test/x",
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      words,
      fc.integer(),
      fc.double(),
      fc.constant(null),
      fc.boolean(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom("id", "status", "data", "output", "error", "progress", "video", "code"),
        tie("value"),
        { maxKeys: 4 },
      ),
    ),
  })).value;
  const target = { model: "m", baseUrl: "https://a.test", apiKey: "sk-canary", headers: {} };
  const states = ["queued", "running", "succeeded", "failed", "cancelled", "result"];
  for (const [name, { media = {} }] of ADAPTERS) {
    if (name === "simulator") continue;
    for (const adapter of Object.values(media)) {
      await fc.assert(
        fc.asyncProperty(json, fc.integer({ min: 300, max: 599 }), async (body, status) => {
          hidesProvider(adapter.fault(status, body));
          const reply = { status: 200, mimeType: "application/json", headers: new Headers(), body };
          const seen = await Promise.resolve(adapter.poll?.read(reply, target, "1"))
            .catch(() => null);
          if (seen === null || seen === undefined) return;
          assert.ok(states.includes(seen.state));
          hidesProvider(withoutAddresses(seen));
        }),
        { numRuns: 60 },
      );
    }
  }
});

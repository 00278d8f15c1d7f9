/** Shipped providers from the request to the file, with the bytes that they would send. */
import assert from "node:assert/strict";
import { mp4Of, png, wav } from "../helpers/media.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";

type Answer = (request: Request) => Response | Promise<Response>;

/** A provider that answers by `METHOD /path`, and remembers what it was asked with which headers. */
function startProvider(routes: Record<string, Answer>) {
  const seen: { route: string; headers: Headers }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const route = `${request.method} ${new URL(request.url).pathname}`;
    seen.push({ route, headers: request.headers });
    const answer = routes[route];
    if (answer !== undefined) return await answer(request);
    await request.body?.cancel();
    return Response.json({ error: { message: `no ${route}` } }, { status: 404 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** One model `m` on one provider, whose shipped file is hurried a little. */
async function openOn(adapter: string, baseUrl: string, model: string): Promise<MediaGateway> {
  const source = await Deno.readTextFile(
    new URL(`../../providers/${adapter}/provider.yaml`, import.meta.url),
  );
  return await openMediaGateway({
    config: `
providers: { p: { adapter: ./${adapter}.yaml, base_url: "${baseUrl}", api_key: "\${KEY}" } }
models: [{ id: m, name: M, ${model}, upstreams: [{ provider: p, model: theirs }] }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries: [{ model: m, ${
      /type: (image|chat)/.test(model)
        ? "billing_type: per_call, price: '0.05', unit: call"
        : "billing_type: duration, price: '0.05', unit: second"
    } }]
`,
    files: {
      [`${adapter}.yaml`]: source.replaceAll(
        /polling: \{.*\}/g,
        "polling: { first_seconds: 0.1, max_seconds: 0.2 }",
      ),
    },
    environment: { KEY: "sk-of-ours" },
    cash: "10.00",
  });
}

async function bytesAt(url: string): Promise<Uint8Array> {
  const res = await fetch(url);
  assert.equal(res.status, 200);
  return await res.bytes();
}

Deno.test("an image of OpenAI's API goes from base64 to a file of ours", async () => {
  await using provider = startProvider({
    "POST /v1/images/generations": () =>
      Response.json({ created: 1, data: [{ b64_json: png(4, 4).toBase64() }] }),
  });
  await using gateway = await openOn(
    "openai",
    `${provider.url}/v1`,
    "type: image, capabilities: [text_to_image]",
  );
  const task = await gateway.submit("/v1/images/generations", { model: "m", prompt: "a tide" });
  const done = await gateway.ended(task.id);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.deepEqual([done.output[0].width, done.output[0].height], [4, 4]);
  assert.deepEqual(await bytesAt(done.output[0].url), png(4, 4));
  assert.deepEqual(await gateway.balance(), { available: "9.95", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("a video of OpenAI's shape is fetched with our key, which is written down nowhere", async () => {
  let looks = 0;
  await using provider = startProvider({
    "POST /v1/videos": () => Response.json({ id: "video_1", status: "queued", progress: 0 }),
    "GET /v1/videos/video_1": () =>
      Response.json(
        looks++ === 0
          ? { id: "video_1", status: "in_progress", progress: 40 }
          : { id: "video_1", status: "completed", progress: 100, seconds: "4" },
      ),
    "GET /v1/videos/video_1/content": () =>
      new Response(mp4Of(3000), { headers: { "content-type": "video/mp4" } }),
  });
  await using gateway = await openOn(
    "openai",
    `${provider.url}/v1`,
    "type: video, capabilities: [text_to_video], limits: { durations: [4], aspect_ratios: ['16:9'] }",
  );
  const task = await gateway.submit("/v1/videos/generations", { model: "m", prompt: "a tide" });
  const done = await gateway.ended(task.id);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.deepEqual(await bytesAt(done.output[0].url), mp4Of(3000));
  const fetched = provider.seen.find(({ route }) => route.endsWith("/content"))!;
  assert.equal(fetched.headers.get("authorization"), "Bearer sk-of-ours");
  const rows = await gateway.gateway.database.sql`select to_jsonb(task)::text as row from task`;
  assert.doesNotMatch(JSON.stringify(rows), /sk-of-ours/);
  assert.doesNotMatch(gateway.logged(), /sk-of-ours/);
  await gateway.verify();
});

Deno.test("speech of OpenAI's shape is answered at once, as audio", async () => {
  await using provider = startProvider({
    "POST /v1/audio/speech": () =>
      new Response(wav(2), { headers: { "content-type": "audio/wav" } }),
  });
  await using gateway = await openOn(
    "openai",
    `${provider.url}/v1`,
    "type: speech, capabilities: [text_to_speech], limits: { voices: [alloy], formats: [wav] }",
  );
  const res = await gateway.post("/v1/audio/speech", {
    model: "m",
    input: "Hello.",
    voice: "alloy",
    response_format: "wav",
  });
  assert.equal(res.status, 200);
  assert.equal(res.headers.get("content-type"), "audio/wav");
  assert.deepEqual(await res.bytes(), wav(2));
  assert.deepEqual(await gateway.balance(), { available: "9.90", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("an avatar of HeyGen's is made of two uploads and paid by the length it tells", async () => {
  const uploads: string[] = [];
  const take = (data: unknown): Answer => async (request) => {
    uploads.push(`${request.headers.get("content-type")} ${(await request.bytes()).length}`);
    return Response.json({ code: 100, data });
  };
  await using provider = startProvider({
    "POST /v1/talking_photo": take({ talking_photo_id: "face-1" }),
    "POST /v1/asset": take({ id: "audio-1" }),
    "POST /v2/video/generate": () => Response.json({ error: null, data: { video_id: "v1" } }),
    "GET /v1/video_status.get": () =>
      Response.json({
        code: 100,
        data: { status: "completed", video_url: `${provider.url}/made/1.mp4`, duration: 2 },
      }),
    "GET /made/1.mp4": () => new Response(mp4Of(3000)),
  });
  await using gateway = await openOn(
    "heygen",
    provider.url,
    "type: avatar, capabilities: [audio_to_avatar], limits: { aspect_ratios: ['9:16'] }",
  );
  const task = await gateway.submit("/v1/avatars/generations", {
    model: "m",
    avatar_file_id: await gateway.upload("face.png", png()),
    audio_file_id: await gateway.upload("voice.wav", wav(2)),
  });
  const done = await gateway.ended(task.id);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.deepEqual(uploads.toSorted(), [
    `audio/wav ${wav(2).length}`,
    `image/png ${png().length}`,
  ]);
  const made = provider.seen.find(({ route }) => route.startsWith("GET /made"))!;
  assert.equal(made.headers.get("x-api-key"), null);
  assert.deepEqual(await gateway.balance(), { available: "9.90", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("a chat service described by a file of one's own answers chats", async () => {
  await using provider = startProvider({
    "POST /v1/talk": async (request) => {
      const { engine_tokens, messages } = await request.json();
      return Response.json({
        choices: [{
          index: 0,
          message: { role: "assistant", content: `${messages[0].content} ${engine_tokens}` },
          finish_reason: "eos",
        }],
        counts: { in: 3, out: 2 },
      });
    },
  });
  await using gateway = await openMediaGateway({
    config: `
providers: { p: { adapter: ./talk.yaml, base_url: "${provider.url}/v1" } }
models: [{ id: m, name: M, type: chat, capabilities: [chat], upstreams: [{ provider: p }] }]
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: m, billing_type: token, input_price: "1", output_price: "1", unit: 1K tokens }] }
`,
    files: {
      "talk.yaml": `name: Talk
path: /talk
parameters: { rename: { max_tokens: engine_tokens } }
finish_reasons: { eos: stop }
usage: { input: /counts/in, output: /counts/out }
`,
    },
  });
  const res = await gateway.post("/v1/chat/completions", {
    model: "m",
    messages: [{ role: "user", content: "hello" }],
    max_tokens: 7,
  });
  assert.equal(res.status, 200, await res.clone().text());
  const { choices: [choice], usage } = await res.json();
  assert.deepEqual([choice.message.content, choice.finish_reason], ["hello 7", "stop"]);
  assert.equal(usage.total_tokens, 5);
  await gateway.verify();
});

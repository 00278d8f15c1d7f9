import assert from "node:assert/strict";
import { mp4Of } from "../helpers/media.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";

/** Polled once a minute: who ends sooner was told. */
const PROVIDER = `
name: Belfry
base_url: http://belfry.test
media:
  video:
    polling: { first_seconds: 60, max_seconds: 60 }
    submit: { path: /jobs, body: { text: =prompt, tell: =callback_url } }
    id: =id
    poll: { path: "/jobs/{id}" }
    state: { at: =status, running: working, succeeded: done }
    outputs: { url: =file }
    callback: =id
`;

const configFor = (url: string) => `
service: { base_url: https://gateway.example/v1 }
outbound: { allow_private: true }
providers:
  belfry: { adapter: ./belfry.yaml, base_url: "${url}" }
models:
  - id: chime
    name: Chime
    type: video
    capabilities: [text_to_video]
    limits: { durations: [5], aspect_ratios: ["16:9"] }
    upstreams: [{ provider: belfry }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00+00:00
    entries: [{ model: chime, billing_type: duration, price: "0.08", unit: second }]
`;

Deno.test("a provider's callback has the job looked at now; a forged one changes nothing", async () => {
  let told = "";
  let looks = 0;
  let status = "working";
  await using upstream = serve(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/file") return new Response(mp4Of(2000));
    if (request.method === "POST") {
      told = (await request.json()).tell;
      return Response.json({ id: "job-1", status });
    }
    looks++;
    return Response.json({ id: "job-1", status, file: `${upstream.url}/file` });
  });
  await using gateway = await openMediaGateway({
    config: configFor(upstream.url),
    files: { "belfry.yaml": PROVIDER },
  });
  const { id } = await gateway.submit("/v1/videos/generations", { model: "chime", prompt: "bong" });
  for (let n = 0; n < 300 && (await gateway.task(id)).status !== "running"; n++) {
    await new Promise((resume) => setTimeout(resume, 20));
  }
  assert.match(told, /^https:\/\/gateway\.example\/callbacks\/task_\w+\?expires=\d+&signature=/);
  const ring = async (address: string, body: unknown) => {
    const { pathname, search } = new URL(address);
    const res = await gateway.fetch(pathname + search, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await res.body?.cancel();
    return res.status;
  };
  assert.equal(await ring(told.replace(/signature=\d+-./, "signature=1-A"), { id: "job-1" }), 404);
  assert.equal(await ring(told, { id: "job-2" }), 204);
  assert.equal(looks, 0);

  // It claims to be done and is not: what the provider itself says is what counts.
  assert.equal(await ring(told, { id: "job-1", status: "done" }), 204);
  for (let n = 0; n < 300 && looks === 0; n++) {
    await new Promise((resume) => setTimeout(resume, 20));
  }
  assert.equal((await gateway.task(id)).status, "running");
  status = "done";
  for (let n = 0; n < 300 && (await gateway.task(id)).status === "running"; n++) {
    assert.equal(await ring(told, { id: "job-1" }), 204);
    await new Promise((resume) => setTimeout(resume, 50));
  }
  assert.equal((await gateway.task(id)).status, "succeeded");
  await gateway.verify();
});

function serve(handler: (request: Request) => Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The example of docs/operate/providers.md, word for word, against a service as it describes. */
import assert from "node:assert/strict";
import type { Json } from "../helpers/chat_gateway.ts";
import { mp4Of } from "../helpers/media.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";

const GUIDE = await Deno.readTextFile(new URL("../../docs/operate/providers.md", import.meta.url));

/** The block of the guide that begins with this line. */
function block(firstLine: string): string {
  const found = new RegExp("```yaml\\n(# " + firstLine + "\\n[\\s\\S]*?)```").exec(GUIDE)?.[1];
  assert.ok(found !== undefined, `the guide has no block "# ${firstLine}"`);
  return found;
}

/** Atelier, as the example describes it. `lose` takes the job and hangs up. */
function startAtelier() {
  const jobs = new Map<string, Json>();
  const requests: {
    method: string;
    path: string;
    key: string | null;
    idempotency: string | null;
  }[] = [];
  let isLosing = false;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, onError: hangUp },
    serve,
  );
  const url = `http://127.0.0.1:${server.addr.port}`;

  async function serve(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, , id] = pathname.replace("/v2", "").split("/");
    requests.push({
      method: request.method,
      path: pathname,
      key: request.headers.get("x-api-key"),
      idempotency: request.headers.get("idempotency-key"),
    });
    if (pathname.startsWith("/files/")) return new Response(mp4Of(2000));
    if (request.method === "POST") {
      const asked = await request.json();
      if (asked.text === "rude") {
        return Response.json({ problem: { code: "nsfw", message: "canary" } }, { status: 409 });
      }
      const made = `canary-job-${jobs.size + 1}`;
      jobs.set(made, { id: made, status: "waiting", looks: 0, asked });
      if (isLosing) throw new Error("lost");
      return Response.json({ job: { id: made, status: "waiting" } }, { status: 201 });
    }
    const wanted = searchParams.get("external_id");
    if (wanted !== null) {
      return Response.json({
        jobs: [...jobs.values()].filter((job) => job.asked.external_id === wanted),
      });
    }
    const job = jobs.get(id ?? "");
    if (job === undefined) return Response.json({ problem: { code: "missing" } }, { status: 404 });
    if (request.method === "DELETE") {
      job.status = "stopped";
      return Response.json({});
    }
    const stages = job.asked.text === "endless"
      ? [{ status: "drawing", done: 0.5 }]
      : job.asked.text === "unlucky"
      ? [{ status: "error", problem: { code: "canary_crash", message: "canary" } }]
      : [
        { status: "drawing", done: 0.4 },
        { status: "inventing a new state" },
        { status: "done", seconds: 5, files: [{ href: `${url}/files/1.mp4` }] },
      ];
    return Response.json({ job: { id, ...stages[Math.min(job.looks++, stages.length - 1)] } });
  }

  return {
    url: `${url}/v2`,
    jobs,
    requests,
    lose: () => isLosing = true,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Half an answer is the nearest that a server comes to none. */
function hangUp(): Response {
  return new Response(
    new ReadableStream({ pull: (controller) => controller.error(new Error("lost")) }),
    { headers: { "content-length": "10" } },
  );
}

async function openAtelierGateway(url: string): Promise<MediaGateway> {
  return await openMediaGateway({
    config: block("in gateway.yaml")
      .replace("api_key:", `base_url: "${url}", api_key:`) + "outbound: { allow_private: true }\n",
    files: {
      // Only the pace is changed, so that the test is short.
      "atelier.yaml": block("atelier.yaml")
        .replace("first_seconds: 5, max_seconds: 15", "first_seconds: 0.1, max_seconds: 0.1"),
    },
    environment: { ATELIER_KEY: "sk-canary" },
    cash: "10.00",
  });
}

const ask = (prompt: string, more = {}) => ({
  model: "atelier-motion",
  prompt,
  duration: 5,
  aspect_ratio: "16:9",
  ...more,
});

Deno.test("the guide's example service makes a video that is copied, paid for and hides who made it", async () => {
  await using atelier = startAtelier();
  await using gateway = await openAtelierGateway(atelier.url);
  const task = await gateway.submit(
    "/v1/videos/generations",
    ask("a tide", { input_images: ["https://cdn.example.com/a.png"] }),
  );
  const done = await gateway.ended(task.id);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  const [job] = [...atelier.jobs.values()];
  assert.deepEqual(job.asked, {
    engine: "motion-2",
    text: "a tide",
    seconds: 5,
    format: "landscape",
    first_frame: "https://cdn.example.com/a.png",
    external_id: task.id,
    quality: "high",
  });
  const [submission] = atelier.requests;
  assert.deepEqual([submission!.key, submission!.idempotency], ["sk-canary", task.id]);
  assert.deepEqual(await gateway.balance(), { available: "9.60", frozen: "0.00" });
  const video = await fetch(done.output[0].url);
  assert.equal(video.headers.get("content-type"), "video/mp4");
  await video.body?.cancel();
  assert.doesNotMatch(
    JSON.stringify(done),
    /canary|atelier\.example|motion-2|127\.0\.0\.1:\d+\/v2/,
  );
  await gateway.verify();
});

Deno.test("the guide's example service refuses and fails in the gateway's words, for nothing", async () => {
  await using atelier = startAtelier();
  await using gateway = await openAtelierGateway(atelier.url);
  const rude = await gateway.submit("/v1/videos/generations", ask("rude"));
  const refused = await gateway.ended(rude.id);
  assert.deepEqual([refused.status, refused.error.code], ["failed", "invalid_value"]);
  const unlucky = await gateway.submit("/v1/videos/generations", ask("unlucky"));
  const failed = await gateway.ended(unlucky.id);
  assert.deepEqual([failed.status, failed.error.code], ["failed", "upstream_failed"]);
  assert.doesNotMatch(JSON.stringify([refused, failed]), /canary/);
  assert.deepEqual(await gateway.balance(), { available: "10.00", frozen: "0.00" });
  await gateway.verify();
});

Deno.test("the guide's example service is asked once, even if its answer is lost", async () => {
  await using atelier = startAtelier();
  await using gateway = await openAtelierGateway(atelier.url);
  atelier.lose();
  const task = await gateway.submit("/v1/videos/generations", ask("a tide"));
  const done = await gateway.ended(task.id);
  assert.equal(done.status, "succeeded", JSON.stringify(done));
  assert.equal(atelier.jobs.size, 1);
  assert.equal(atelier.requests.filter(({ method }) => method === "POST").length, 1);
  await gateway.verify();
});

Deno.test("a job of the guide's example service is cancelled there, and costs nothing", async () => {
  await using atelier = startAtelier();
  await using gateway = await openAtelierGateway(atelier.url);
  const task = await gateway.submit("/v1/videos/generations", ask("endless"));
  for (let seen = task; seen.status !== "running" || seen.progress !== 50;) {
    await new Promise((resume) => setTimeout(resume, 30));
    seen = await gateway.task(task.id);
    assert.equal(seen.completed_at, null);
  }
  const res = await gateway.post(`/v1/tasks/${task.id}/cancel`, {});
  assert.ok([200, 202].includes(res.status), await res.text());
  const done = await gateway.ended(task.id);
  assert.equal(done.status, "cancelled");
  assert.equal([...atelier.jobs.values()][0].status, "stopped");
  assert.deepEqual(await gateway.balance(), { available: "10.00", frozen: "0.00" });
  await gateway.verify();
});

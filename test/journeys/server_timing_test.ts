/** `Server-Timing` where a response waits for a task; that of chats is in requests_test.ts. */
import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const IMAGES = "/v1/images/generations";
const DRAMAS = Deno.readTextFileSync(new URL("../helpers/drama_config.yaml", import.meta.url));
/** How far two clocks may be apart, and what a busy machine adds between two looks at them. */
const SLACK_MS = 30;

interface Timed {
  readonly status: number;
  readonly gateway: number;
  /** Null: the header has none. */
  readonly upstream: number | null;
}

async function timed(response: Response): Promise<Timed> {
  const header = response.headers.get("server-timing") ?? "";
  await response.body?.cancel();
  const found = /^gateway;dur=([\d.]+)(?:, upstream;dur=([\d.]+))?$/.exec(header);
  assert.ok(found !== null, `Server-Timing: ${header}`);
  const upstream = found[2] === undefined ? null : Number(found[2]);
  return { status: response.status, gateway: Number(found[1]), upstream };
}

/** The model's part is in `upstream`, and nothing is in both. */
function assertUpstream({ gateway, upstream }: Timed, ms: number, tookMs: number): void {
  const told = JSON.stringify({ gateway, upstream, tookMs });
  assert.ok(upstream !== null && upstream >= ms - SLACK_MS, told);
  assert.ok(gateway >= 0 && gateway + upstream <= tookMs + SLACK_MS, told);
}

async function took<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  return [await work(), performance.now() - startedAt];
}

const speech = (gateway: MediaGateway, directive: string, headers?: Record<string, string>) =>
  gateway.post("/v1/audio/speech", {
    model: "voice",
    input: `[[simulate: ${directive}]] Hi`,
    voice: "alma",
  }, headers).then(timed);

const image = (gateway: MediaGateway, directive: string, headers: Record<string, string>) =>
  gateway.post(IMAGES, {
    model: "image-model",
    prompt: `[[simulate: ${directive}]] a tide`,
  }, headers).then(timed);

Deno.test("awaited speech tells the model's time, also when it fails", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const [made, madeMs] = await took(() => speech(gateway, "latency=300ms"));
  assert.equal(made.status, 200);
  assertUpstream(made, 300, madeMs);
  const [failed, failedMs] = await took(() => speech(gateway, "latency=300ms, status=400"));
  assert.ok(failed.status >= 400, String(failed.status));
  assertUpstream(failed, 300, failedMs);
});

Deno.test(
  "an image that is waited for tells its time at the provider, whether it is ready or not",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const [made, madeMs] = await took(() => image(gateway, "seconds=1", { prefer: "wait=20" }));
    assert.equal(made.status, 200);
    assertUpstream(made, 1000, madeMs);
    const [early, earlyMs] = await took(() => image(gateway, "seconds=3", { prefer: "wait=1" }));
    assert.equal(early.status, 202);
    assertUpstream(early, 700, earlyMs);
    assert.ok(early.upstream! <= 1000 + SLACK_MS, String(early.upstream));
  },
);

Deno.test(
  "without a wait, or for a task that had ended, all of the time is the gateway's",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const key = { "idempotency-key": "order-1" };
    const first = await speech(gateway, "latency=200ms", key);
    assert.ok(first.upstream! >= 200 - SLACK_MS);
    assert.equal((await speech(gateway, "latency=200ms", key)).upstream, null);
    assert.equal((await image(gateway, "seconds=1", {})).upstream, null);
  },
);

Deno.test("failed attempts count, and the pauses between them do not", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const [made, tookMs] = await took(() =>
    image(gateway, "latency=200ms, status=429, retry_after=1, fail=1, name=once", {
      prefer: "wait=20",
    })
  );
  assert.equal(made.status, 200);
  assertUpstream(made, 200, tookMs);
  const told = JSON.stringify({ made, tookMs });
  assert.ok(tookMs < 1000 || made.upstream! < tookMs - 500, told);
});

Deno.test("a drama's parts run side by side: a moment counts once", STRICT, async () => {
  await using gateway = await openMediaGateway({ config: DRAMAS });
  const [made, tookMs] = await took(() =>
    gateway.post("/v1/dramas/generations", {
      ...{ model: "play", title: "Tides", script: "Mara waits at the sea for Jon." },
      ...{ stage: "storyboard", business_id: "tides-1" },
    }, { prefer: "wait=60" }).then(timed)
  );
  assert.equal(made.status, 202);
  assertUpstream(made, SLACK_MS + 1, tookMs);
});

Deno.test("a task that another node runs has its time from the database", STRICT, async () => {
  const config = `${await Deno.readTextFile(
    new URL("../helpers/media_config.yaml", import.meta.url),
  )}
storage: { queue: postgres }
`;
  await using first = await openMediaGateway({ config });
  await using second = await openMediaGateway({ config, beside: first });
  await until("they know each other", () => second.gateway.cluster.peers.length === 1);
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const [made, tookMs] = await took(() => image(second, "seconds=1", { prefer: "wait=20" }));
      assertUpstream(made, 1000, tookMs);
      return made.status;
    }),
  );
  assert.deepEqual(answers, Array(8).fill(200));
});

Deno.test("answers of the admin API have the header, those of pages have not", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const config = await timed(await gateway.admin("GET", "/config"));
  assert.equal(config.upstream, null);
  const refused = await gateway.fetch("/admin/v1/config");
  assert.equal(refused.status, 401);
  await timed(refused);
  const page = await gateway.fetch("/");
  await page.body?.cancel();
  assert.equal(page.headers.get("server-timing"), null);
});

import assert from "node:assert/strict";
import { until } from "../helpers/chat_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
/** Shorter than the interval at which a node looks for changes that it was not told of. */
const NEWS_MS = 400;
const ROUNDS = 6;

const config = async () =>
  `${await Deno.readTextFile(new URL("../helpers/media_config.yaml", import.meta.url))}
storage: { queue: postgres }
`;

Deno.test(
  "a request that waits on one node is answered at once when another node ends its task",
  STRICT,
  async () => {
    await using first = await openMediaGateway({ config: await config() });
    await using second = await openMediaGateway({ config: await config(), beside: first });
    await until("they know each other", () => second.gateway.cluster.peers.length === 1);
    for (let round = 0; round < ROUNDS; round++) {
      const waiting = first.submit("/v1/images/generations", {
        model: "image-model",
        prompt: "[[simulate: status=429, retry_after=600]] a tide",
      }, { prefer: "wait=30" });
      let id = "";
      await until("it waits", async () => {
        const { data } = await (await second.get("/v1/tasks?status=queued")).json();
        id = data[0]?.id ?? "";
        return id !== "";
      });
      // Until its one upstream was tried: from then on it waits for its next round.
      await new Promise((resume) => setTimeout(resume, 300));
      const began = performance.now();
      await (await second.post(`/v1/tasks/${id}/cancel`, {})).body?.cancel();
      assert.equal((await waiting).status, "cancelled");
      const tookMs = performance.now() - began;
      assert.ok(tookMs < NEWS_MS, `round ${round}: ${Math.round(tookMs)} ms`);
    }
  },
);

Deno.test(
  "speech is answered and paid for once, whichever node makes it",
  STRICT,
  async () => {
    await using first = await openMediaGateway({ config: await config(), cash: "1.00" });
    await using second = await openMediaGateway({ config: await config(), beside: first });
    const answers = await Promise.all(
      Array.from({ length: 16 }, async (_, n) => {
        const node = n % 2 === 0 ? first : second;
        const body = { model: "voice", input: "Twenty characters ok", voice: "alma" };
        const res = await node.post("/v1/audio/speech", body);
        assert.equal(res.status, 200, await res.clone().text());
        return (await res.bytes()).length;
      }),
    );
    assert.ok(answers.every((bytes) => bytes > 1000));
    assert.deepEqual(await first.balance(), { available: "0.84", frozen: "0.00" });
    await first.verify();
  },
);

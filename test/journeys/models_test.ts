import assert from "node:assert/strict";
import { errorOf, openGateway } from "../helpers/open_gateway.ts";

const CONFIG = await Deno.readTextFile(new URL("../helpers/config.yaml", import.meta.url));
/** With a model whose sunset has passed. */
const WITH_ENDED = CONFIG
  .replace(
    "  - id: broken-chat\n",
    `  - id: ended-image
    aliases: [ended-image-latest]
    name: Ended Image
    type: image
    sunset_at: 2026-02-01T00:00:00+00:00
    capabilities: [text_to_image]
    upstreams: [{ provider: canary-provider, model: canary-model }]
$&`,
  )
  .replace(
    "      - { model: broken-chat,",
    '      - { model: ended-image, billing_type: per_call, price: "0.04", unit: image }\n$&',
  );

Deno.test("GET /v1/models", async (t) => {
  await using gateway = await openGateway({ config: WITH_ENDED });
  const ids = async (query: string) => {
    const res = await gateway.get(`/v1/models${query}`);
    assert.equal(res.status, 200);
    return (await res.json()).data.map(({ id }: { id: string }) => id);
  };

  await t.step(
    "200 lists what the account may see, in the published shape and without limits",
    async () => {
      const res = await gateway.get("/v1/models");
      assert.equal(res.headers.get("content-type"), "application/json; charset=utf-8");
      const body = await res.json();
      assert.equal(body.object, "list");
      assert.deepEqual(body.data[0], {
        id: "tiny-chat",
        object: "model",
        name: "Tiny Chat",
        type: "chat",
        logo: "",
        description: "Small.",
        advantages: ["Small"],
        scenarios: ["Tests"],
        status: "available",
        capabilities: ["chat", "streaming"],
        created: Date.parse("2026-01-01T00:00:00Z") / 1000,
        owned_by: "Testgate",
      });
      assert.deepEqual(await ids(""), [
        "tiny-chat",
        "tiny-image",
        "tiny-video",
        "old-image",
      ]);
    },
  );

  await t.step("200 with filters, alone and together", async () => {
    assert.deepEqual(await ids("?type=image"), ["tiny-image", "old-image"]);
    assert.deepEqual(await ids("?capability=image_to_video"), ["tiny-video"]);
    // One of them since its sunset.
    assert.deepEqual(await ids("?status=unavailable"), ["ended-image", "broken-chat"]);
    assert.deepEqual(await ids("?type=image&status=deprecated"), ["old-image"]);
    assert.deepEqual(await ids("?type=speech"), []);
  });

  await t.step("400 names the allowed values of a filter", async () => {
    for (
      const [query, param, allowed] of [
        ["?type=music", "type", "chat, image, video"],
        ["?capability=fly", "capability", "text_to_image"],
        ["?status=", "status", "available, preview, deprecated, unavailable"],
      ] as const
    ) {
      const res = await gateway.get(`/v1/models${query}`);
      assert.equal(res.status, 400);
      const error = await errorOf(res);
      assert.equal(error.code, "invalid_value");
      assert.equal(error.param, param);
      assert.ok(error.message.includes(allowed), error.message);
    }
  });

  await t.step("200 shows a plan's own models to that plan only", async () => {
    const { key } = await gateway.newKey({ name: "pro", plan: "pro" });
    const res = await gateway.get("/v1/models", { authorization: `Bearer ${key}` });
    const list = (await res.json()).data.map(({ id }: { id: string }) => id);
    assert.ok(list.includes("pro-chat"));
    assert.ok(!(await ids("")).includes("pro-chat"));
  });
});

Deno.test("GET /v1/models/{model_id}", async (t) => {
  await using gateway = await openGateway({ config: WITH_ENDED });

  await t.step("200 has the limits as declared", async () => {
    const res = await gateway.get("/v1/models/tiny-video");
    assert.equal(res.status, 200);
    const body = await res.json();
    assert.deepEqual(body.limits, {
      durations: [5, 10],
      aspect_ratios: ["16:9"],
      max_prompt_length: 100,
    });
    assert.equal(body.status, "preview");
    assert.equal(res.headers.get("deprecation"), null);
  });

  await t.step("200 of a deprecated model says so in its headers", async () => {
    const res = await gateway.get("/v1/models/old-image");
    assert.equal(res.status, 200);
    assert.equal(res.headers.get("deprecation"), "@1767225600");
    assert.equal(res.headers.get("sunset"), "Thu, 01 Jan 2099 00:00:00 GMT");
    await res.body?.cancel();
  });

  await t.step("200 of an alias is the model with its id", async () => {
    const body = await (await gateway.get("/v1/models/tiny-image-latest")).json();
    assert.deepEqual([body.id, body.aliases], ["tiny-image", ["tiny-image-latest"]]);
  });

  await t.step(
    "404 for an unknown, an unavailable, an ended and an invisible model is the same refusal",
    async () => {
      const ended = ["ended-image", "ended-image-latest"];
      for (
        const id of [...ended, "nothing", "broken-chat", "pro-chat", "a".repeat(2000), "%ff"]
      ) {
        const res = await gateway.get(`/v1/models/${id}`);
        assert.equal(res.status, 404, id);
        const error = await errorOf(res);
        assert.equal(error.type, "model_unavailable");
        assert.equal(error.code, "model_unavailable");
        assert.equal(error.param, "model");
      }
    },
  );
});

Deno.test("GET /v1/pricing/models", async (t) => {
  await using gateway = await openGateway();

  await t.step("200 at a time shows the prices that are announced for it", async () => {
    const input = async (at: string) => {
      const res = await gateway.get(`/v1/pricing/models?at=${encodeURIComponent(at)}`);
      assert.equal(res.status, 200, await res.clone().text());
      const { data } = await res.json();
      return data.find(({ model }: { model: string }) => model === "tiny-chat")?.input_price;
    };
    assert.equal(await input("2125-12-31T23:59:59Z"), "0.15");
    assert.equal(await input("2126-01-01T01:00:00+01:00"), "0.30");
    assert.equal(await input("2025-01-01T00:00:00Z"), undefined, "no price was in force");
    const res = await gateway.get("/v1/pricing/models?at=tomorrow");
    assert.equal(res.status, 400);
    const error = await errorOf(res);
    assert.deepEqual([error.code, error.param], ["invalid_value", "at"]);
  });

  await t.step("200 lists the prices in force for the account, as decimal strings", async () => {
    const res = await gateway.get("/v1/pricing/models");
    assert.equal(res.status, 200);
    assert.deepEqual(await res.json(), {
      object: "list",
      currency: "EUR",
      data: [
        {
          model: "tiny-chat",
          billing_type: "token",
          input_price: "0.15",
          output_price: "0.60",
          cached_input_price: "0.075",
          unit: "1M tokens",
        },
        { model: "tiny-image", billing_type: "per_call", price: "0.04", unit: "image" },
        {
          model: "tiny-video",
          billing_type: "duration",
          price: "0.05",
          minimum_charge: "0.25",
          unit: "second",
        },
        { model: "old-image", billing_type: "per_call", price: "0.00", unit: "image" },
      ],
      effective_at: "2026-02-03T02:05:06+00:00",
    });
  });

  await t.step("200 uses the plan's book, and what that book extends", async () => {
    const { key } = await gateway.newKey({ name: "pro", plan: "pro" });
    const res = await gateway.get("/v1/pricing/models", { authorization: `Bearer ${key}` });
    const prices = new Map(
      (await res.json()).data.map((entry: { model: string }) => [entry.model, entry]),
    );
    assert.deepEqual(prices.get("tiny-chat"), {
      model: "tiny-chat",
      billing_type: "token",
      input_price: "0.10",
      output_price: "0.40",
      unit: "1M tokens",
    });
    assert.equal((prices.get("tiny-image") as { price: string }).price, "0.04");
    assert.ok(prices.has("pro-chat"));
  });

  await t.step("200 lets an account's own book come before its plan's", async () => {
    const { key } = await gateway.newKey({ name: "special", price_book: "pro" });
    const res = await gateway.get("/v1/pricing/models", { authorization: `Bearer ${key}` });
    const entry = (await res.json()).data.find(({ model }: { model: string }) =>
      model === "tiny-chat"
    );
    assert.equal(entry.input_price, "0.10");
  });
});

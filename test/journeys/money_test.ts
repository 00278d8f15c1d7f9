import assert from "node:assert/strict";
import { priceFor } from "../../src/domain/pricing/find_price.ts";
import { chargeUsage, quoteUsage } from "../../src/domain/pricing/quote.ts";
import { openLedger } from "../../src/domain/ledger/ledger.ts";
import { newId } from "../../src/lib/ids.ts";
import { errorOf, openGateway, type TestGateway } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

const balanceOf = async (gateway: TestGateway) => {
  const res = await gateway.get("/v1/balance");
  assert.equal(res.status, 200);
  return await res.json();
};

/** Books a request as an endpoint would: quote, hold, settle. */
async function spend(
  gateway: TestGateway,
  model: string,
  { images, used, clientRequestId }: { images: number; used: number; clientRequestId?: string },
) {
  const { configStore, database } = gateway.gateway;
  const ledger = openLedger({
    database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded() {},
    onOrphanedHold() {},
  });
  const planned = configStore.current.models.get(model)!;
  const price = priceFor(
    configStore.current,
    { id: gateway.account, plan: "free", priceBook: null },
    model,
    Date.now(),
  )!;
  const quoted = quoteUsage(planned, price, { images, calls: images });
  const id = newId("req");
  const hold = await ledger.hold({
    id,
    account: gateway.account,
    quote: quoted,
    ttlSeconds: 60,
    clientRequestId,
  });
  return {
    id,
    settle: () => hold.keep().settle(chargeUsage(quoted, { images: used, calls: used })),
  };
}

Deno.test("GET /v1/balance", async (t) => {
  await using gateway = await openGateway();

  await t.step("200 of a new account is all zeros, on the free plan", async () => {
    assert.deepEqual(await balanceOf(gateway), {
      object: "balance",
      currency: "EUR",
      available_balance: "0.00",
      frozen_balance: "0.00",
      cash_balance: "0.00",
      gift_balance: "0.00",
      quotas: { text: 0, image: 0, video: 0 },
      plan: { name: "free", expires_at: null },
    });
  });

  await t.step("200 after credits: cash and gifts apart, the same reference once", async () => {
    const path = `/accounts/${gateway.account}/credits`;
    const cash = { kind: "cash", amount: "7.5", reference: "invoice-1" };
    const first = await gateway.admin("POST", path, cash);
    assert.equal(first.status, 201);
    assert.equal((await first.json()).balance.available_balance, "7.50");
    const again = await gateway.admin("POST", path, cash);
    assert.equal(again.status, 200, "booked before");
    assert.equal((await again.json()).balance.available_balance, "7.50");
    const other = await gateway.admin("POST", path, { ...cash, amount: "8" });
    assert.equal(other.status, 400);
    assert.equal((await errorOf(other)).param, "reference");
    const gift = {
      kind: "gift",
      amount: "0.000000000001",
      reference: "welcome",
      expires_at: "2126-01-01T00:00:00Z",
    };
    assert.equal(await statusOf(gateway.admin("POST", path, gift)), 201);
    const balance = await balanceOf(gateway);
    assert.equal(balance.cash_balance, "7.50");
    assert.equal(balance.gift_balance, "0.000000000001");
    assert.equal(balance.available_balance, "7.500000000001");
  });

  await t.step("200 shows what a hold freezes, and what settling it takes", async () => {
    const request = await spend(gateway, "tiny-image", { images: 10, used: 3 });
    const held = await balanceOf(gateway);
    assert.equal(held.frozen_balance, "0.40");
    assert.equal(held.available_balance, "7.100000000001");
    await request.settle();
    const settled = await balanceOf(gateway);
    assert.equal(settled.frozen_balance, "0.00");
    assert.equal(settled.available_balance, "7.380000000001");
  });
});

Deno.test("GET /v1/usage and its receipts", async (t) => {
  await using gateway = await openGateway();
  await statusOf(gateway.admin("POST", `/accounts/${gateway.account}/credits`, {
    kind: "gift",
    amount: "0.05",
    reference: "g",
  }));
  await statusOf(gateway.admin("POST", `/accounts/${gateway.account}/credits`, {
    kind: "cash",
    amount: "5",
    reference: "c",
  }));
  const first = await spend(gateway, "tiny-image", {
    images: 3,
    used: 2,
    clientRequestId: "trace-1",
  });
  await first.settle();
  const second = await spend(gateway, "old-image", { images: 1, used: 1 });
  await second.settle();

  await t.step("200 lists receipts newest first, in pages, and by model and time", async () => {
    const list = await (await gateway.get("/v1/usage")).json();
    assert.deepEqual(list.data.map(({ id }: { id: string }) => id), [second.id, first.id]);
    assert.equal(list.has_more, false);
    const page = await (await gateway.get("/v1/usage?limit=1")).json();
    assert.equal(page.has_more, true);
    const next = await (await gateway.get(`/v1/usage?limit=1&after=${page.last_id}`)).json();
    assert.deepEqual(next.data.map(({ id }: { id: string }) => id), [first.id]);
    const byModel = await (await gateway.get("/v1/usage?model=tiny-image")).json();
    assert.deepEqual(byModel.data.map(({ id }: { id: string }) => id), [first.id]);
    const past = await (await gateway.get("/v1/usage?to=2020-01-01T00:00:00Z")).json();
    assert.deepEqual(past.data, []);
  });

  await t.step("200 of a receipt says what was counted, at which price, and who paid", async () => {
    const res = await gateway.get(`/v1/usage/${first.id}`);
    assert.equal(res.status, 200);
    const { created, completed, ...receipt } = await res.json();
    assert.ok(created > 1_700_000_000 && completed >= created);
    assert.deepEqual(receipt, {
      id: first.id,
      object: "usage.receipt",
      request_id: first.id,
      client_request_id: "trace-1",
      key: null,
      user: null,
      metadata: null,
      endpoint: null,
      model: "tiny-image",
      status: "settled",
      currency: "EUR",
      held: "0.12",
      settled: "0.08",
      released: "0.04",
      shortfall: "0.00",
      capped: false,
      from: { quota: 0, gift: "0.05", cash: "0.03" },
      usage: { images: 2, calls: 2 },
      price: receipt.price,
    });
    assert.equal(receipt.price.price, "0.04");
    assert.equal(receipt.price.unit, "image");
  });

  await t.step("404 for another account's receipt, 400 for a filter that is not one", async () => {
    const stranger = await gateway.newKey({ name: "stranger" });
    const res = await gateway.get(`/v1/usage/${first.id}`, {
      authorization: `Bearer ${stranger.key}`,
    });
    assert.equal(res.status, 404);
    await res.body?.cancel();
    for (const query of ["from=yesterday", "to=", "limit=0", "after=req_missing"]) {
      const bad = await gateway.get(`/v1/usage?${query}`);
      assert.equal(bad.status, 400, query);
      assert.equal((await errorOf(bad)).param, query.split("=")[0]);
    }
  });

  await t.step("200 as CSV: every movement, adding up to the balance", async () => {
    const res = await gateway.get("/v1/usage", { accept: "text/csv" });
    assert.equal(res.headers.get("content-type"), "text/csv; charset=utf-8");
    const rows = (await res.text()).trim().split("\r\n").map((row) => row.split(","));
    const amount = rows[0]!.indexOf("amount");
    const cents = rows.slice(1).reduce(
      (sum, row) => sum + Math.round(Number(row[amount]) * 100),
      0,
    );
    assert.equal(cents, 497);
    assert.equal((await balanceOf(gateway)).available_balance, "4.97");
  });
});

Deno.test("PUT /admin/v1/accounts/{id}/plan changes limits, prices and models at once", async () => {
  await using gateway = await openGateway();
  const path = `/accounts/${gateway.account}/plan`;
  assert.equal(await statusOf(gateway.get("/v1/models/pro-chat")), 404);
  const res = await gateway.admin("PUT", path, { plan: "pro", expires_at: "2126-01-01T00:00:00Z" });
  assert.equal(res.status, 200);
  const account = await res.json();
  assert.equal(account.plan, "pro");
  assert.equal(account.plan_expires_at, "2126-01-01T00:00:00.000Z");
  assert.equal(await statusOf(gateway.get("/v1/models/pro-chat")), 200);
  assert.deepEqual((await balanceOf(gateway)).plan, {
    name: "pro",
    expires_at: "2126-01-01T00:00:00.000Z",
  });
  for (
    const [body, param] of [
      [{ plan: "gold" }, "plan"],
      [{ plan: "pro", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
      [{ plan: "pro", expires_at: "soon" }, "expires_at"],
    ] as const
  ) {
    const bad = await gateway.admin("PUT", path, body);
    assert.equal(bad.status, 400);
    assert.equal((await errorOf(bad)).param, param);
  }
});

Deno.test("POST /v1/quotes tells the worst case and whether it is covered, and books nothing", async () => {
  await using gateway = await openGateway();
  const ask = async (path: string, body: unknown) => {
    return await gateway.fetch("/v1/quotes", {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ path, body }),
    });
  };
  const image = await (await ask("/images/generations", { model: "tiny-image", prompt: "x", n: 2 }))
    .json();
  assert.equal(image.object, "quote");
  assert.equal(image.amount, "0.08");
  assert.equal(image.covered, false);
  await statusOf(gateway.admin("POST", `/accounts/${gateway.account}/credits`, {
    kind: "cash",
    amount: "0.50",
    reference: "c",
  }));
  const video =
    await (await ask("/v1/videos/generations", { model: "tiny-video", prompt: "x", duration: 10 }))
      .json();
  assert.equal(video.amount, "0.50");
  assert.equal(video.covered, true);
  const chat = await (await ask("/chat/completions", {
    model: "tiny-chat",
    messages: [{ role: "user", content: "hi" }],
    max_tokens: 10,
  })).json();
  assert.equal(chat.usage.output_tokens, 10);
  assert.ok(chat.usage.input_tokens >= 2);
  const { frozen_balance, available_balance } = await balanceOf(gateway);
  assert.deepEqual([frozen_balance, available_balance], ["0.00", "0.50"]);
  for (
    const [path, body, code] of [
      ["/images/generations", { model: "tiny-image", prompt: "x", n: 3 }, "invalid_value"],
      ["/images/generations", { model: "tiny-image", prompt: "x", n: -1 }, "invalid_value"],
      ["/images/generations", { model: "tiny-image", prompt: "x", n: 1e300 }, "invalid_value"],
      ["/images/generations", { model: "tiny-video", prompt: "x" }, "capability_not_supported"],
      ["/images/generations", { model: "nothing", prompt: "x" }, "model_unavailable"],
      ["/images/generations", {}, "missing_field"],
      [
        "/videos/generations",
        { model: "tiny-video", prompt: "x", duration: 7 },
        "duration_not_allowed",
      ],
      ["/videos/generations", { model: "tiny-video" }, "missing_field"],
      ["/models", { model: "tiny-chat" }, "invalid_value"],
      ["/chat/completions", { model: "tiny-chat" }, "missing_field"],
      ["/chat/completions", { model: "tiny-chat", messages: "x" }, "invalid_value"],
      ["/chat/completions", { model: "tiny-chat", messages: [] }, "invalid_value"],
      [
        "/chat/completions",
        { model: "tiny-chat", messages: [{ role: "user", content: "x" }], reasoning_effort: "low" },
        "capability_not_supported",
      ],
      [
        "/images/generations",
        { model: "tiny-image", prompt: "x", callback_url: "http://127.0.0.1/" },
        "unsafe_url",
      ],
    ] as const
  ) {
    const res = await ask(path, body);
    assert.equal((await errorOf(res)).code, code, JSON.stringify([path, body]));
  }
});

Deno.test("POST /v1/quotes answers 501 for an endpoint that is planned", async () => {
  const text = await Deno.readTextFile(new URL("../helpers/config.yaml", import.meta.url));
  const routes = ["chat", "list_models", "quotes"].map((operation) =>
    `  - { path: /${operation}, operation: ${operation}, stage: released }`
  );
  await using gateway = await openGateway({
    config: `${text}
routes:
${routes.join("\n")}
  - { path: /images/generations, operation: generation, type: image, stage: planned }
  - { path: /videos/generations, operation: generation, type: video, stage: planned }
`,
  });
  const res = await gateway.fetch("/v1/quotes", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      path: "/images/generations",
      body: { model: "tiny-image", prompt: "x" },
    }),
  });
  assert.equal(res.status, 501);
  assert.equal((await errorOf(res)).code, "endpoint_not_released");
});

Deno.test("400 for credits that are not money", async () => {
  await using gateway = await openGateway();
  const path = `/accounts/${gateway.account}/credits`;
  const good = { kind: "cash", amount: "1", reference: "r" };
  for (
    const [change, param] of [
      [{ amount: "-1" }, "amount"],
      [{ amount: "0" }, "amount"],
      [{ amount: "0.00" }, "amount"],
      [{ amount: "1e3" }, "amount"],
      [{ amount: 1 }, "amount"],
      [{ amount: "0.1.2" }, "amount"],
      [{ amount: "123456789012345678901" }, "amount"],
      [{ kind: "gold" }, "kind"],
      [{ reference: "" }, "reference"],
      [{ expires_at: "2126-01-01T00:00:00Z" }, "expires_at"],
      [{ kind: "gift", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    ] as const
  ) {
    const res = await gateway.admin("POST", path, { ...good, ...change });
    assert.equal(res.status, 400, JSON.stringify(change));
    assert.equal((await errorOf(res)).param, param, JSON.stringify(change));
  }
  const missing = await gateway.admin("POST", "/accounts/acc_missing/credits", good);
  assert.equal(missing.status, 404);
  await missing.body?.cancel();
  assert.equal((await balanceOf(gateway)).available_balance, "0.00");
});

Deno.test("GET /admin/v1/ledger/verify checks the books, and sees a figure that was tampered with", async () => {
  await using gateway = await openGateway();
  await statusOf(gateway.admin("POST", `/accounts/${gateway.account}/credits`, {
    kind: "cash",
    amount: "5",
    reference: "c",
  }));
  await (await spend(gateway, "tiny-image", { images: 3, used: 2 })).settle();
  const good = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.equal(good.ok, true, JSON.stringify(good));
  assert.ok(good.checks.length >= 6);
  await gateway.gateway.database
    .sql`update balance_bucket set remaining = remaining + 1 where id = ${
    "cash:" + gateway.account
  }`;
  const bad = await (await gateway.admin("GET", "/ledger/verify")).json();
  assert.equal(bad.ok, false);
});

import assert from "node:assert/strict";
import type { Sql } from "postgres";
import { type FakeUpstream, startFakeUpstream } from "./fake_upstream.ts";
import { type MediaGateway, openMediaGateway } from "./media_gateway.ts";
import { installClock } from "./open_ledger.ts";

/**
 * A month of traffic over five models and two providers. What margins, usage, CSV, statements and the comparison with
 * invoices must say is computed here, with arithmetic of its own: nothing of the code that prices, rounds and sums is
 * used.
 */

export const MONTH = "2026-03";
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const configFor = (url: string) => `
service: { name: Month, currency: EUR }
outbound: { allow_private: true }
limits: { default: { requests_per_minute: 100000, running_tasks: 100 } }
plans: { free: {}, pro: { quotas: { text: 50000 } } }
providers:
  open: { adapter: openai, base_url: "${url}/v1", api_key: "\${KEY:-k}" }
  other: { adapter: anthropic, base_url: "${url}/v1", api_key: "\${KEY:-k}" }
models:
  - id: large
    name: Large
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 1000000, max_output_tokens: 64000 }
    upstreams:
      - { provider: open, model: gpt-large, cost: { input_price: "1", output_price: "8", cached_input_price: "0.1",
          unit: 1M tokens, tiers: [{ above_input_tokens: 20000, input_price: "2", output_price: "12" }] } }
  - id: unknown
    name: Unknown
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 1000000, max_output_tokens: 64000 }
    upstreams: [{ provider: open, model: gpt-unknown }]
  - id: draw
    name: Draw
    type: image
    capabilities: [text_to_image]
    limits: { sizes: [1024x1024], qualities: [medium, high], max_count: 4 }
    upstreams:
      - { provider: open, model: gpt-image, cost: { price: "0.042", unit: image,
          variants: [{ when: { quality: high }, price: "0.167" }] } }
  - id: deep
    name: Deep
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 200000, max_output_tokens: 64000 }
    upstreams:
      - { provider: other, model: claude-deep, cost: { input_price: "3", output_price: "15",
          cached_input_price: "0.3", cache_write_price: "3.75", unit: 1M tokens } }
  - id: quick
    name: Quick
    type: chat
    capabilities: [chat]
    limits: { context_tokens: 200000, max_output_tokens: 64000 }
    upstreams: [{ provider: other, model: claude-quick, cost: { input_price: "1", output_price: "5", unit: 1M tokens } }]
prices:
  default:
    effective_at: 2026-01-01T00:00:00Z
    entries:
      - { model: large, billing_type: token, input_price: "1.25", output_price: "10", cached_input_price: "0.125",
          unit: 1M tokens,
          tiers: [{ above_input_tokens: 20000, input_price: "2.5", output_price: "15", cached_input_price: "0.25" }] }
      - { model: unknown, billing_type: token, input_price: "0.3", output_price: "0.9", unit: 1M tokens }
      - { model: draw, billing_type: per_call, price: "0.05", unit: image,
          variants: [{ when: { quality: high }, price: "0.20" }] }
      - { model: deep, billing_type: token, input_price: "3.6", output_price: "18", cached_input_price: "0.36",
          cache_write_price: "4.5", unit: 1M tokens }
      - { model: quick, billing_type: token, input_price: "1.2", output_price: "6", unit: 1M tokens }
`;

type ModelName = "large" | "unknown" | "draw" | "deep" | "quick";
const PROVIDER = { large: "open", unknown: "open", draw: "open", deep: "other", quick: "other" };
const UPSTREAM = {
  ...{ large: "gpt-large", unknown: "gpt-unknown", draw: "gpt-image" },
  ...{ deep: "claude-deep", quick: "claude-quick" },
};

/** Amounts are integers here: a price of 1.25 per million tokens is 1,250,000 × 10⁻¹² per token. */
export const TRILLION = 10n ** 12n;
const MICRO = 10n ** 6n;

/** Tokens of a chat. */
interface Tokens {
  input: number;
  cached: number;
  written: number;
  output: number;
}

/** What a chat is charged and costs, in units of 10⁻¹²; a cost that is not declared is null. */
function priceChat(model: ModelName, tokens: Tokens): { charge: bigint; cost: bigint | null } {
  const sum = (input: number, cached: number, written: number, output: number) =>
    BigInt(tokens.input * input + tokens.cached * cached + tokens.written * written) +
    BigInt(tokens.output * output);
  const isLong = tokens.input + tokens.cached > 20_000;
  switch (model) {
    case "large":
      return isLong
        ? {
          charge: sum(2_500_000, 250_000, 0, 15_000_000),
          cost: sum(2_000_000, 100_000, 0, 12_000_000),
        }
        : {
          charge: sum(1_250_000, 125_000, 0, 10_000_000),
          cost: sum(1_000_000, 100_000, 0, 8_000_000),
        };
    case "unknown":
      return { charge: sum(300_000, 300_000, 0, 900_000), cost: null };
    case "deep":
      return {
        charge: sum(3_600_000, 360_000, 4_500_000, 18_000_000),
        cost: sum(3_000_000, 300_000, 3_750_000, 15_000_000),
      };
    default:
      return {
        charge: sum(1_200_000, 1_200_000, 1_200_000, 6_000_000),
        cost: sum(1_000_000, 1_000_000, 1_000_000, 5_000_000),
      };
  }
}

interface ApiKey {
  readonly id: string;
  readonly key: string;
}

/** Whom a request is for. */
interface Origin {
  readonly key: ApiKey;
  readonly user: string | null;
  readonly team: string | null;
}

/** What one account has, and what it was charged, as a bookkeeper would write it down. */
export class Customer {
  readonly id: string;
  readonly keys: ApiKey[];
  plan = "free";
  quota = 0n;
  gift = 0n;
  cash = 0n;
  /** All charges before rounding, in units of 10⁻¹⁸, and what was taken for them, in units of 10⁻¹². */
  exact = 0n;
  taken = 0n;

  constructor({ account, key, keyId }: { account: string; key: string; keyId: string }) {
    this.id = account;
    this.keys = [{ key, id: keyId }];
  }

  /** Pays for a request: the quota its share, then gift, then cash, with the sum of all charges rounded to 10⁻⁶. */
  pay(
    charge: bigint,
    units: bigint,
  ): { quota: bigint; gift: bigint; money: bigint; shortfall: bigint } {
    const quota = units < this.quota ? units : this.quota;
    this.quota -= quota;
    const due = units === 0n ? charge * MICRO : charge * MICRO * (units - quota) / units;
    this.exact += due;
    const rounded = (this.exact + TRILLION / 2n) / TRILLION * MICRO;
    const owed = rounded - this.taken;
    const gift = owed < this.gift ? owed : this.gift;
    const cash = owed - gift < this.cash ? owed - gift : this.cash;
    this.gift -= gift;
    this.cash -= cash;
    this.taken = rounded;
    return { quota, gift, money: gift + cash, shortfall: owed - gift - cash };
  }
}

interface Line {
  requests: number;
  failed: number;
  quota: bigint;
  revenue: bigint;
  gift: bigint;
  shortfall: bigint;
  capped: number;
  cost: bigint;
  uncosted: number;
  uncosted_revenue: bigint;
}

/** One request, as usage must have it. Amounts are in units of 10⁻¹². */
export interface Entry extends Record<"account" | "model" | "endpoint" | "day" | "key", string> {
  readonly user: string | null;
  readonly team: string | null;
  readonly isFailed: boolean;
  readonly tokens: Tokens;
  readonly images: number;
  readonly quota: bigint;
  readonly charged: bigint;
  readonly gift: bigint;
  readonly shortfall: bigint;
  /** Null: not known. */
  readonly cost: bigint | null;
}

const NO_TOKENS: Tokens = { input: 0, cached: 0, written: 0, output: 0 };

interface Charged {
  readonly charge: bigint;
  readonly cost: bigint | null;
  readonly units: bigint;
  readonly origin: Origin;
  readonly tokens?: Tokens;
  readonly images?: number;
}

/** The month as the test expects it. */
export class Book {
  /** The day that requests are made on. */
  day = "";
  readonly entries: Entry[] = [];
  readonly lines = new Map<string, Line>();
  /** By upstream model. */
  readonly invoice = new Map<string, bigint>();

  lineOf(model: ModelName, provider: string, { id, plan }: Customer): Line {
    const key = [MONTH, model, provider, id, plan].join();
    const line = this.lines.get(key) ?? {
      ...{ requests: 0, failed: 0, quota: 0n, revenue: 0n, gift: 0n, shortfall: 0n, capped: 0 },
      ...{ cost: 0n, uncosted: 0, uncosted_revenue: 0n },
    };
    this.lines.set(key, line);
    return line;
  }

  charge(
    model: ModelName,
    customer: Customer,
    { charge, cost, units, origin, tokens = NO_TOKENS, images = 0 }: Charged,
  ): void {
    const line = this.lineOf(model, PROVIDER[model], customer);
    const { quota, gift, money, shortfall } = customer.pay(charge, units);
    line.requests++;
    line.quota += quota;
    line.gift += gift;
    line.revenue += money;
    line.shortfall += shortfall;
    if (shortfall > 0n) line.capped++;
    if (cost === null) {
      line.uncosted++;
      line.uncosted_revenue += money;
    } else line.cost += cost;
    this.invoice.set(UPSTREAM[model], (this.invoice.get(UPSTREAM[model]) ?? 0n) + (cost ?? 0n));
    this.entries.push({
      ...this.#entryOf(model, customer, origin),
      ...{ isFailed: false, tokens, images, quota, charged: money, gift, shortfall, cost },
    });
  }

  fail(model: ModelName, customer: Customer, origin: Origin): void {
    this.lineOf(model, "", customer).failed++;
    this.entries.push({
      ...this.#entryOf(model, customer, origin),
      ...{ isFailed: true, tokens: NO_TOKENS, images: 0, quota: 0n, charged: 0n, gift: 0n },
      ...{ shortfall: 0n, cost: null },
    });
  }

  #entryOf(model: ModelName, { id }: Customer, { key, user, team }: Origin) {
    const endpoint = model === "draw" ? "generation" : "chat";
    return { account: id, model, endpoint, day: this.day, key: key.id, user, team };
  }
}

/** 1250000000000n → "1.25": at least two decimals. */
export function written(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(13, "0");
  const decimals = digits.slice(-12).replace(/0+$/, "").padEnd(2, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -12)}.${decimals}`;
}

/** An amount of the CSV, in units of 10⁻¹². */
export function amountOf(text: string): bigint {
  const [whole, decimals = ""] = text.replace("-", "").split(".");
  const value = BigInt(whole + decimals.padEnd(12, "0"));
  return text.startsWith("-") ? -value : value;
}

function chatReply(model: ModelName, { input, cached, written, output }: Tokens) {
  if (PROVIDER[model] === "open") {
    return {
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Yes." },
        finish_reason: "stop",
      }],
      usage: {
        prompt_tokens: input + cached,
        completion_tokens: output,
        prompt_tokens_details: { cached_tokens: cached },
      },
    };
  }
  return {
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "Yes." }],
    stop_reason: "end_turn",
    usage: {
      input_tokens: input,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written,
      output_tokens: output,
    },
  };
}

/** Sends requests and writes down what each must have been charged and cost. */
class Traffic {
  constructor(
    readonly gateway: MediaGateway,
    readonly upstream: FakeUpstream,
    readonly book: Book,
  ) {}

  /** Whom the next request is for: customers have several keys, users and teams, and requests of none. */
  #nextOrigin({ keys }: Customer): Origin {
    const number = this.book.entries.length;
    return {
      key: keys[number % keys.length]!,
      user: ["ada", "bob", null][number % 3]!,
      team: ["red", "blue", "green", null][number % 4]!,
    };
  }

  async post(origin: Origin, path: string, body: object): Promise<Response> {
    const { key, user, team } = origin;
    const marked = {
      ...body,
      ...(user === null ? {} : { user }),
      ...(team === null ? {} : { metadata: { team } }),
    };
    return await this.gateway.post(path, marked, { authorization: `Bearer ${key.key}` });
  }

  async chat(
    customer: Customer,
    model: ModelName,
    tokens: Tokens,
    max_tokens = 20_000,
  ): Promise<void> {
    this.upstream.answer({ status: 200, body: chatReply(model, tokens) });
    const all = tokens.input + tokens.cached + tokens.written;
    const messages = [{ role: "user", content: "x".repeat(all) }];
    const origin = this.#nextOrigin(customer);
    const res = await this.post(origin, "/v1/chat/completions", { model, messages, max_tokens });
    assert.equal(res.status, 200, await res.text());
    const units = BigInt(all + tokens.output);
    this.book.charge(model, customer, { ...priceChat(model, tokens), units, tokens, origin });
  }

  async images(customer: Customer, n: number, quality: "medium" | "high"): Promise<void> {
    const data = Array.from({ length: n }, () => ({ b64_json: PIXEL }));
    this.upstream.answer({ status: 200, body: { data } });
    const body = { model: "draw", prompt: "A tide", n, quality };
    const origin = { ...this.#nextOrigin(customer), team: null }; // images take no metadata
    const res = await this.post(origin, "/v1/images/generations", body);
    assert.equal(res.status, 202, await res.clone().text());
    const { id } = await res.json();
    const headers = { authorization: `Bearer ${origin.key.key}` };
    for (let status = "queued"; status !== "succeeded";) {
      const task = await (await this.gateway.get(`/v1/tasks/${id}`, headers)).json();
      status = task.status;
      assert.ok(task.error === null, JSON.stringify(task.error));
    }
    const [charge, cost] = quality === "high" ? [200n, 167n] : [50n, 42n];
    const count = BigInt(n) * 10n ** 9n;
    this.book.charge("draw", customer, {
      ...{ charge: charge * count, cost: cost * count, units: 0n },
      ...{ origin, images: n },
    });
  }

  async failure(customer: Customer): Promise<void> {
    const error = { type: "invalid_request_error", message: "no" };
    this.upstream.answer({ status: 400, body: { type: "error", error } });
    const messages = [{ role: "user", content: "Hello" }];
    const origin = this.#nextOrigin(customer);
    const res = await this.post(origin, "/v1/chat/completions", { model: "deep", messages });
    assert.equal(res.status, 400, await res.text());
    this.book.fail("deep", customer, origin);
  }
}

/** The same numbers in every run. */
function numbersFrom(seed: number): (below: number) => number {
  let state = BigInt(seed);
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
    return Number((state >> 33n) % BigInt(below));
  };
}

/** A day of traffic of one customer. */
async function day(
  traffic: Traffic,
  customer: Customer,
  number: (below: number) => number,
): Promise<void> {
  const models: ModelName[] = ["large", "unknown", "draw", "deep", "quick"];
  for (let left = 1 + number(2); left > 0; left--) {
    const model = models[number(models.length)]!;
    if (model === "draw") {
      await traffic.images(customer, 1 + number(4), number(2) === 0 ? "medium" : "high");
      continue;
    }
    await traffic.chat(customer, model, {
      input: 1 + number(model === "large" ? 30_000 : 5_000),
      cached: model === "large" || model === "deep" ? number(3_000) : 0,
      // Only the price of `deep` knows cache writes.
      written: model === "deep" ? number(2_000) : 0,
      output: 1 + number(2_000),
    });
  }
}

export async function openMonth() {
  await using parts = new AsyncDisposableStack();
  const upstream = parts.use(startFakeUpstream());
  const gateway = parts.use(await openMediaGateway({ config: configFor(upstream.url) }));
  const { sql } = gateway.gateway.database;
  await installClock(sql, `${MONTH}-01T00:00:00Z`);
  const customer = async (name: string, credits: { cash?: string; gift?: string }) => {
    const made = new Customer(await gateway.newKey({ name }));
    const second = await gateway.admin("POST", `/accounts/${made.id}/keys`, { name: "second" });
    made.keys.push(await second.json());
    for (const [kind, amount] of Object.entries(credits)) {
      const credit = { kind, amount, reference: `${name} ${kind}` };
      const res = await gateway.admin("POST", `/accounts/${made.id}/credits`, credit);
      assert.equal(res.status, 201, await res.text());
      made[kind as "cash" | "gift"] = amountOf(amount);
    }
    return made;
  };
  const traffic = new Traffic(gateway, upstream, new Book());
  const rich = await customer("rich", { cash: "100" });
  const planned = await customer("planned", { cash: "50" });
  const gifted = await customer("gifted", { gift: "20" });
  const poor = await customer("poor", { cash: "0.1" });
  const closing = parts.move();
  return {
    ...{ gateway, sql, traffic, rich, planned, gifted, poor },
    setClock: (moment: string) => moveClock(sql, moment),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/**
 * Leases of reserves go along with the clock. Otherwise a charge whose lease has ended is paid by the free balance, and
 * rounded without the differences of earlier ones.
 */
async function moveClock(sql: Sql, moment: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select from wallet order by account_id for update`; // as renewals do before they read the clock
    await tx`update test_clock set now = ${moment}::text::timestamptz`;
    await tx`update reserve set expires_at = ledger_now() + make_interval(secs => lease_ms / 1000.0)`;
  });
}

export type Month = Awaited<ReturnType<typeof openMonth>>;

export async function live(month: Month): Promise<void> {
  const { gateway, traffic, rich, planned, gifted, poor } = month;
  const number = numbersFrom(20_260_301);
  for (let date = 1; date <= 31; date++) {
    traffic.book.day = `${MONTH}-${String(date).padStart(2, "0")}`;
    await month.setClock(`${traffic.book.day}T10:00:00Z`);
    if (date === 16) {
      const res = await gateway.admin("PUT", `/accounts/${planned.id}/plan`, { plan: "pro" });
      assert.equal(res.status, 200, await res.text());
      Object.assign(planned, { plan: "pro", quota: 50_000n });
    }
    await day(traffic, rich, number);
    await day(traffic, planned, number);
    if (date % 3 === 0) await day(traffic, gifted, number);
    if (date % 10 === 0) await traffic.failure(rich);
  }
  // The upstream reports more than the request could use: what the account has is charged, the rest is missing.
  await traffic.chat(poor, "quick", { input: 1_000, cached: 0, written: 0, output: 30_000 }, 10);
}

import { Random } from "../fuzz/random.ts";
import { png } from "../helpers/media.ts";
import type { Entry, Kind } from "./client_records.ts";
import { send, type Sent } from "./client.ts";
import { drawDirective } from "./directives.ts";
import type { World } from "./world.ts";

const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));
const ATTEMPTS_MAX = 6;
/** Between two looks for a node that is up. */
const LOOK_MS = 200;

type Action = Kind | "cancel" | "read" | "endpoint" | "top_up";
const MIX: readonly [Action, number][] = [
  ["chat", 28],
  ["stream", 28],
  ["image", 14],
  ["video", 5],
  ["speech", 7],
  ["upload", 4],
  ["cancel", 5],
  ["read", 3],
  ["endpoint", 2],
  ["top_up", 4],
];
const ACTIONS = MIX.flatMap(([action, weight]) => Array.from({ length: weight }, () => action));

/** One client: draws what to do from its own seed, so that its order of requests repeats with the seed. */
export class LoadClient {
  readonly #random: Random;
  /** Apart from the other, so that what happens to nodes does not change what is asked for. */
  readonly #routing: Random;
  #count = 0;
  readonly #tasks: { account: number; id: string }[] = [];

  constructor(
    private readonly world: World,
    private readonly number: number,
    private readonly over: AbortSignal,
    /** Ends what is still under way when the run could not wait for it any longer. */
    private readonly giveUp: AbortSignal,
  ) {
    this.#random = new Random(world.options.seed * 31 + number + 100);
    this.#routing = new Random(world.options.seed * 37 + number + 200);
  }

  async run(): Promise<void> {
    while (!this.over.aborted) {
      const isServed = this.world.nodes.some(({ state }) => state === "up");
      if (!isServed && !this.#routing.oneIn(20)) {
        await wait(LOOK_MS);
        continue;
      }
      await this.#act(this.#random.pick(ACTIONS));
      await wait(this.#random.below(this.world.options.thinkMs + 1));
    }
  }

  async #act(action: Action): Promise<void> {
    switch (action) {
      case "chat":
      case "stream":
        return await this.#chat(action);
      case "image":
      case "video":
        return await this.#generate(action);
      case "speech":
        return await this.#speak();
      case "upload":
        return await this.#upload();
      default:
        // What these do is idempotent, and the audit looks at the result only.
        return await this.#other(action).catch(() => {});
    }
  }

  /** Mostly those with much money: the others would be refused most of the time. */
  #account(): number {
    return this.#random.oneIn(4) ? 2 + this.#random.below(2) : this.#random.below(2);
  }

  /** A node that is up, as a load balancer would choose; now and then any. */
  #address(): string {
    const { nodes } = this.world;
    const up = nodes.filter(({ state }) => state === "up");
    // In an upgrade a client that cannot connect would be a finding.
    const isAny = this.world.options.upgradeFrom === null && this.#routing.oneIn(20);
    return this.#routing.pick(up.length === 0 || isAny ? nodes : up).address;
  }

  #open(kind: Kind, model: string, directive: string, account = this.#account()): Entry {
    const id = `c${this.number}-${++this.#count}-${kind}`;
    return this.world.clientRecords.open({ id, kind, account, model, directive });
  }

  #sent(entry: Entry, path: string, body: unknown, more: Partial<Sent> = {}): Sent {
    const { key } = this.world.clientRecords.accounts[entry.account]!;
    return { address: this.#address(), path, key, body, ...more };
  }

  /** One request in three runs on the provider that misbehaves. */
  #directive(what: "chat" | "job" | "speech"): string {
    const directive = drawDirective(this.#random, what, this.world.options.faults);
    return this.#random.oneIn(3) ? directive : "";
  }

  async #chat(kind: "chat" | "stream"): Promise<void> {
    const directive = this.#directive("chat");
    const model = directive === "" ? "talk" : "rough-talk";
    const entry = this.#open(kind, model, directive);
    const tokens = 5 + this.#random.below(this.#random.oneIn(4) ? 150 : 40);
    const pace = this.#random.pick([0, 0, 5, 30]);
    const directives = `tokens=${tokens} pace=${pace}ms cached=${
      this.#random.below(6)
    } ${directive}`;
    const doesLeave = kind === "stream" && this.world.options.faults.has("leave") &&
      this.#random.oneIn(12);
    const body = {
      model,
      max_tokens: 200,
      messages: [{ role: "user", content: `Say ${entry.id} [[simulate: ${directives}]]` }],
      ...(kind === "stream" ? { stream: true } : {}),
      ...(kind === "stream" && !this.#random.oneIn(5)
        ? { stream_options: { include_usage: true } }
        : {}),
    };
    const more = doesLeave ? { leaveAfter: 1 + this.#random.below(tokens) } : {};
    await send(entry, this.#sent(entry, "/v1/chat/completions", body, more), this.giveUp);
  }

  async #speak(): Promise<void> {
    const directive = this.#directive("speech");
    const model = directive === "" ? "voice" : "rough-voice";
    const entry = this.#open("speech", model, directive);
    const input = `Read ${entry.id} aloud. ${"la ".repeat(this.#random.below(20))}` +
      `[[simulate: ${directive}]]`;
    entry.characters = [...input].length;
    const body = { model, input, voice: "alma", response_format: "pcm" };
    await send(entry, this.#sent(entry, "/v1/audio/speech", body), this.giveUp);
  }

  /** A task is asked for with the same key until there is an answer to rely on. */
  async #generate(kind: "image" | "video"): Promise<void> {
    const directive = this.#directive("job");
    const model = directive === "" ? kind : `rough-${kind}`;
    const { world } = this;
    const entry = this.#open(kind, model, directive);
    const { hasEndpoint } = world.clientRecords.accounts[entry.account]!;
    const { url, deadUrl } = world.receivers;
    const callback = this.#random.oneIn(10) ? `${deadUrl}/${entry.id}` : `${url}/${entry.id}`;
    const body = {
      model,
      prompt: `${entry.id} [[simulate: ${directive}]]`,
      ...(kind === "image"
        ? { n: 1 + this.#random.below(3) }
        : { duration: this.#random.pick([1, 2]) }),
      ...(hasEndpoint && this.#random.oneIn(2) ? {} : { callback_url: callback }),
    };
    const path = kind === "image" ? "/v1/images/generations" : "/v1/videos/generations";
    for (let tries = 0; tries < ATTEMPTS_MAX; tries++) {
      const more = { idempotencyKey: `key-${entry.id}` };
      await send(entry, this.#sent(entry, path, body, more), this.giveUp);
      const isCertain = entry.status !== null && entry.status < 500 && entry.end !== "broken";
      if (isCertain || this.giveUp.aborted) break;
      await wait(300 + this.#routing.below(700));
    }
    for (const id of entry.tasks) this.#tasks.push({ account: entry.account, id });
  }

  async #upload(): Promise<void> {
    const entry = this.#open("upload", "", "", this.#random.below(2));
    // The bytes differ in what a reader of images ignores.
    const bytes = new Uint8Array([...png(), ...new TextEncoder().encode(entry.id)]);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    entry.file = { id: "", sha256: new Uint8Array(digest).toHex() };
    const body = new FormData();
    body.set("purpose", "generation");
    body.set("file", new File([bytes], "image.png", { type: "image/png" }));
    await send(entry, this.#sent(entry, "/v1/files", body), this.giveUp);
  }

  async #other(action: "cancel" | "read" | "endpoint" | "top_up"): Promise<void> {
    const { world } = this;
    const { clientRecords } = world;
    const account = this.#account();
    const { key } = clientRecords.accounts[account]!;
    const ask = (path: string, method = "GET", body?: unknown) =>
      fetch(this.#address() + path, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(10_000), this.giveUp]),
      });
    switch (action) {
      case "top_up":
        // Only those with little: they live on the edge of their balance.
        return await world.credit(2 + this.#random.below(2), "0.06");
      case "read":
        clientRecords.reads++;
        await (await ask(this.#random.pick(["/v1/balance", "/v1/usage", "/v1/tasks"]))).text();
        return;
      case "cancel": {
        const task = this.#tasks.splice(-1 - this.#random.below(3), 1)[0];
        if (task === undefined) return;
        clientRecords.cancels++;
        const owner = clientRecords.accounts[task.account]!;
        const res = await fetch(`${this.#address()}/v1/tasks/${task.id}/cancel`, {
          method: "POST",
          headers: { authorization: `Bearer ${owner.key}` },
          signal: AbortSignal.timeout(10_000),
        });
        await res.text();
        return;
      }
      case "endpoint": {
        clientRecords.endpoints++;
        const url = `${world.receivers.url}/more`;
        const made = await (await ask("/v1/webhook_endpoints", "POST", { url })).json();
        await wait(this.#random.below(2_000));
        await (await ask(`/v1/webhook_endpoints/${made.id}`, "DELETE")).text();
      }
    }
  }
}

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import process from "node:process";
import { filePart, form, FORM_TYPE, PURPOSE } from "../../helpers/form.ts";
import { png, wav } from "../../helpers/media.ts";
import { shippedWith } from "../../helpers/console_gateway.ts";
import { ADMIN_TOKEN, openGateway, type TestGateway } from "../../helpers/open_gateway.ts";
import { Visitor } from "../../helpers/visitor.ts";
import { setOperator } from "../../../src/domain/accounts/people.ts";
import { mutate } from "../mutate.ts";
import { mutateJson } from "../mutate_json.ts";
import type { Random } from "../random.ts";
import { SAMPLE_REQUESTS } from "../requests.ts";
import type { FuzzTarget } from "../target.ts";

/** A request that waits for an upstream is left; that it did not block the others is what counts. */
const PATIENCE_MS = 3_000;
const BLOCKED_MS = 1_000;
const TOKENS = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "null",
  "1e999",
  "\\u0000",
  "&",
  "=",
  "%00",
];
const FAULTS_OF_UPSTREAMS = [501, 502, 503, 504];

let gateway: TestGateway;
let visitor: Visitor;
/** What the words in sample requests stand for. */
let words: Record<string, string>;
let webhookEndpoint: string;

/**
 * Every endpoint answers any body with a success or a well-formed error, never with a 500, and does not
 * block the others. An input is the endpoint, a line break, the content type, a line break and the body.
 */
const target: FuzzTarget = {
  timeoutMs: 15_000,
  seeds: () => Promise.resolve(SAMPLE_REQUESTS.map(encode)),
  generate(random, corpus) {
    const request = decode(random.pick(corpus));
    const bodies = corpus.map((input) => decode(input).body);
    return encode({ ...request, body: changed(random, request, bodies) });
  },
  async setup() {
    gateway = await openGateway({ config: await configFor() });
    visitor = new Visitor(gateway.address);
    await visitor.register("ann@example.com");
    const { sql } = gateway.gateway.database;
    await sql`update person set email_verified_at = now() where email = 'ann@example.com'`;
    await setOperator(sql, "ann@example.com", true);
    await new Visitor(gateway.address).register("ben@example.com");
    await creditAll();
    const account = await (await visitor.get("/account")).text();
    words = {
      CSRF: /name="csrf" value="([^"]+)"/.exec(account)![1]!,
      IMAGE_FILE: await upload(png(64, 64), "a.png"),
      AUDIO_FILE: await upload(wav(2), "a.wav"),
    };
    const made = await post("/v1/webhook_endpoints", { url: "https://hooks.invalid/" });
    webhookEndpoint = made.id;
    await assertComplete();
    return gateway;
  },
  async run(input) {
    const request = decode(input);
    if (!SAMPLE_REQUESTS.some(({ endpoint }) => endpoint === request.endpoint)) return;
    const watch = watchLoop();
    await send(request);
    const health = await gateway.get("/healthz");
    await health.body?.cancel();
    assert.equal(health.status, 200);
    const blockedMs = watch.stop();
    assert.ok(blockedMs < BLOCKED_MS, `${request.endpoint} blocked others for ${blockedMs} ms`);
  },
};

async function creditAll(): Promise<void> {
  const { data } = await (await gateway.admin("GET", "/accounts")).json();
  for (const { id } of data) {
    const credit = { kind: "cash", amount: "1000000", reference: "fuzz" };
    const res = await gateway.admin("POST", `/accounts/${id}/credits`, credit);
    assert.equal(res.status, 201, await res.text());
  }
}

async function upload(content: Uint8Array, name: string): Promise<string> {
  const res = await gateway.fetch("/v1/files", {
    method: "POST",
    headers: { ...credentials("/v1/files"), "content-type": FORM_TYPE },
    body: form([PURPOSE, filePart(content, name)]),
  });
  return (await res.json()).id;
}

async function post(path: string, body: unknown): Promise<{ id: string }> {
  const headers = { ...credentials(path), "content-type": "application/json" };
  return await (await gateway.fetch(path, { method: "POST", headers, body: JSON.stringify(body) }))
    .json();
}

/** What is shipped, with limits that a run does not reach. */
async function configFor(): Promise<string> {
  return (await shippedWith()).replace(
    /requests_per_minute: 600\n/,
    "requests_per_minute: 1000000\n",
  )
    .replace("tokens_per_minute: 1000000\n", "tokens_per_minute: 1000000000\n");
}

/** Fails when an endpoint was added that no sample request is for. */
async function assertComplete(): Promise<void> {
  const { paths } = await (await gateway.fetch("/openapi.json")).json();
  const sampled = new Set(SAMPLE_REQUESTS.map(({ endpoint }) => endpoint));
  for (const path in paths) {
    for (const method of ["post", "put"].filter((method) => method in paths[path])) {
      const endpoint = `${method.toUpperCase()} ${path}`;
      assert.ok(sampled.has(endpoint), `test/fuzz/requests.ts has no request for ${endpoint}`);
    }
  }
}

interface Request {
  endpoint: string;
  type: string;
  body: Uint8Array;
}

async function send({ endpoint, type, body }: Request): Promise<void> {
  const [method, template] = endpoint.split(" ") as [string, string];
  const id = template.startsWith("/v1/webhook_endpoints/") ? webhookEndpoint : gateway.account;
  const path = template.replace("{id}", id).replace("{email}", "ben@example.com")
    .replace("{task_id}", "task_x");
  const isApi = /^\/(v1|admin|callbacks)\//.test(path);
  let response: Response;
  try {
    response = await fetch(gateway.address + path, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: { "content-type": type, ...credentials(path) },
      body: withWords(body),
    });
    if (response.headers.get("content-type")?.includes("event-stream")) {
      return await response.body?.cancel();
    }
    const text = await response.text();
    const isKnown = response.status < 500 || FAULTS_OF_UPSTREAMS.includes(response.status);
    assert.ok(isKnown, `${endpoint} answered ${response.status}: ${text}\n${lastError()}`);
    if (isApi && response.status >= 400) assertError(text);
  } catch (error) {
    if ((error as Error).name !== "TimeoutError") throw error;
  }
}

function credentials(path: string): Record<string, string> {
  if (path.startsWith("/v1/")) return { authorization: `Bearer ${gateway.key}` };
  if (path.startsWith("/admin/")) return { authorization: `Bearer ${ADMIN_TOKEN}` };
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { cookie, origin: gateway.address, accept: "text/html" };
}

function assertError(text: string): void {
  const { error, request_id } = JSON.parse(text);
  assert.equal(typeof error.message, "string", text);
  assert.equal(typeof error.type, "string", text);
  assert.ok("param" in error && "code" in error, text);
  assert.match(request_id, /^req_/);
}

function lastError(): string {
  return gateway.logged().split("\n").findLast((line) => line.includes('"level":"error"')) ?? "";
}

/** How long the thread did nothing but one thing; waiting for a busy processor does not count. */
function watchLoop(): { stop(): number } {
  let [longest, last, cpu] = [0, performance.now(), process.cpuUsage()];
  const look = () => {
    const { user, system } = process.cpuUsage(cpu);
    longest = Math.max(longest, Math.min(performance.now() - last, (user + system) / 1000));
    [last, cpu] = [performance.now(), process.cpuUsage()];
  };
  const timer = setInterval(look, 20);
  return {
    stop() {
      clearInterval(timer);
      look();
      return Math.round(longest);
    },
  };
}

function changed(random: Random, { type, body }: Request, bodies: Uint8Array[]): Uint8Array {
  if (type === "application/json" && !random.oneIn(3)) {
    try {
      const document = JSON.parse(new TextDecoder().decode(body));
      return new TextEncoder().encode(JSON.stringify(mutateJson(random, document)));
    } catch {
      // A kept input that is no JSON: its bytes are changed.
    }
  }
  const corpus = random.oneIn(8) ? bodies : [body];
  return mutate(random, { corpus, tokens: TOKENS });
}

function encode({ endpoint, type, body }: Request): Uint8Array {
  const head = new TextEncoder().encode(`${endpoint}\n${type}\n`);
  const input = new Uint8Array(head.length + body.length);
  input.set(head);
  input.set(body, head.length);
  return input;
}

function decode(input: Uint8Array): Request {
  const [endpoint = "", type = ""] = new TextDecoder().decode(input.subarray(0, 300)).split("\n");
  return { endpoint, type, body: input.subarray(endpoint.length + type.length + 2) };
}

/** Fills in what no kept input can know: the token of a session, ids of files. */
function withWords(body: Uint8Array): Uint8Array<ArrayBuffer> {
  // One character for each byte: the body need not be text.
  const text = Buffer.from(body).toString("latin1").replaceAll(
    /CSRF|IMAGE_FILE|AUDIO_FILE/g,
    (word) => words[word]!,
  );
  return Uint8Array.from(Buffer.from(text, "latin1"));
}

export default target;

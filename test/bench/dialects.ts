import { type Figures, loadPosts, middle } from "./chat.ts";
import { startTollgateAlone } from "./contestants.ts";
import { printTable } from "./load.ts";

const TEXT = "Tell me something about foxes and dogs.";
const MESSAGES = [{ role: "user", content: TEXT }];
/** The same question in every dialect. */
const DIALECTS = [
  { name: "chat completions", path: "/v1/chat/completions", body: { messages: MESSAGES } },
  { name: "messages", path: "/v1/messages", body: { max_tokens: 4096, messages: MESSAGES } },
  { name: "responses", path: "/v1/responses", body: { input: TEXT } },
  { name: "responses, not stored", path: "/v1/responses", body: { input: TEXT, store: false } },
];
const ROUNDS = 3;
const CONNECTIONS = 64;

/** Messages and Responses against chat completions, on the same gateway in turns. `--rounds 1` is a short run. */
export async function run(args: readonly string[] = []): Promise<void> {
  const at = args.indexOf("--rounds");
  const rounds = at === -1 ? ROUNDS : Number(args[at + 1]);
  await using ground = await startTollgateAlone();
  for (const stream of [false, true]) {
    const seen = DIALECTS.map((): Figures[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [index, { path, body }] of DIALECTS.entries()) {
        const whole = { model: "bench", ...body, ...(stream ? { stream } : {}) };
        const load = { path, body: whole, connections: CONNECTIONS };
        seen[index]!.push(await loadPosts(ground.tollgate, ground, load));
      }
    }
    const base = middle(seen[0]!).rps;
    console.log(
      `\n${stream ? "streams of 100 events" : "whole answers"}, ${CONNECTIONS} connections\n`,
    );
    printTable([
      ["", "requests/s", "of chat completions", "p50 ms", "p99 ms"],
      ...DIALECTS.map(({ name }, index) => {
        const { rps, p50, p99 } = middle(seen[index]!);
        return [name, rps.toFixed(0), (rps / base).toFixed(2), p50.toFixed(1), p99.toFixed(1)];
      }),
    ]);
  }
}

import { openChatGateway } from "../helpers/chat_gateway.ts";
import { openaiPackage, vercelSdk } from "./chat_suite.ts";

Deno.test("the official openai package works unchanged, on the simulator", async (t) => {
  await using gateway = await openChatGateway();
  await openaiPackage(t, { address: gateway.address, key: gateway.key, model: "talk" });
  await gateway.verify();
});

Deno.test("the Vercel AI SDK works unchanged, on the simulator", async (t) => {
  await using gateway = await openChatGateway();
  await vercelSdk(t, { address: gateway.address, key: gateway.key, model: "talk" });
  await gateway.verify();
});

Deno.test("the openai package retries what we say may be retried", async () => {
  await using gateway = await openChatGateway();
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({
    apiKey: gateway.key,
    baseURL: `${gateway.address}/v1`,
    maxRetries: 2,
  });
  const content = `Hello [[simulate: fail=1 name=${crypto.randomUUID()}]]`;
  const answer = await client.chat.completions.create({
    model: "talk",
    messages: [{ role: "user", content }],
  });
  if (!answer.choices[0]?.message.content) throw new Error("no answer");
});

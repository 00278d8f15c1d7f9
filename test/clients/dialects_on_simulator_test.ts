import { openChatGateway } from "../helpers/chat_gateway.ts";
import { langchainResponses, llamaindexResponses, openaiAgents } from "./agent_frameworks_suite.ts";
import { anthropicPackage } from "./messages_suite.ts";
import { openaiResponses, vercelDefault } from "./responses_suite.ts";

const SUITES = {
  "the official Anthropic package": anthropicPackage,
  "the official openai package by Responses": openaiResponses,
  "the Vercel AI SDK by its default call": vercelDefault,
  "@openai/agents": openaiAgents,
  "LangChain by Responses": langchainResponses,
  "LlamaIndex by Responses": llamaindexResponses,
};

for (const [name, suite] of Object.entries(SUITES)) {
  Deno.test(`${name} works unchanged, on the simulator`, async (t) => {
    await using gateway = await openChatGateway();
    await suite(t, { address: gateway.address, key: gateway.key, model: "talk" });
    await gateway.verify();
  });
}

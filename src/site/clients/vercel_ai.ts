import { canChat, type Client, embeds, keyVariable } from "./client.ts";

export const vercelAi: Client = {
  id: "vercel-ai",
  name: "Vercel AI SDK",
  setUp(connection) {
    const { model, baseUrl, service } = connection;
    const isEmbedding = embeds(connection);
    if (!isEmbedding && !canChat(connection, "/chat/completions")) return null;
    const id = JSON.stringify(model.id);
    const call = isEmbedding
      ? `const { embedding } = await embed({
  model: provider.embeddingModel(${id}),
  value: ${JSON.stringify(model.example.body.input)},
});
console.log(embedding.length);`
      : `const { text } = await generateText({ model: provider(${id}), prompt: "Hello!" });
console.log(text);`;
    return {
      snippets: [{
        language: "ts",
        note: "npm install ai @ai-sdk/openai-compatible",
        text: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ${isEmbedding ? "embed" : "generateText"} } from "ai";

const provider = createOpenAICompatible({
  name: ${JSON.stringify(service)},
  baseURL: ${JSON.stringify(baseUrl)},
  apiKey: process.env.${keyVariable(connection)},
});

${call}`,
      }],
    };
  },
};

import { numberLimit } from "../../model_types/limits.ts";
import { canChat, type Client, keyVariable, type ModelConnection, providerId } from "./client.ts";

export const opencode: Client = {
  id: "opencode",
  name: "opencode",
  setUp(connection) {
    if (!canChat(connection, "/chat/completions", "streaming", "tools")) return null;
    return {
      snippets: [{
        language: "json",
        note: "opencode.json, or ~/.config/opencode/opencode.json",
        text: JSON.stringify(opencodeSettings(connection), null, 2),
      }, { language: "sh", note: "", text: "opencode" }],
    };
  },
};

function opencodeSettings(connection: ModelConnection) {
  const { service, baseUrl, model } = connection;
  const id = providerId(connection);
  const context = numberLimit(model, "context_tokens");
  const output = numberLimit(model, "max_output_tokens");
  // opencode shortens conversations by these limits; it knows both or none.
  const limit = context === undefined || output === undefined ? {} : { limit: { context, output } };
  return {
    $schema: "https://opencode.ai/config.json",
    provider: {
      [id]: {
        npm: "@ai-sdk/openai-compatible",
        name: service,
        options: { baseURL: baseUrl, apiKey: `{env:${keyVariable(connection)}}` },
        models: { [model.id]: { name: model.name, ...limit } },
      },
    },
    model: `${id}/${model.id}`,
  };
}

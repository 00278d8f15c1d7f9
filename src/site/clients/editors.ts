import { numberLimit } from "../../model_types/limits.ts";
import { canChat, type Client, writtenKey } from "./client.ts";

/** What an editor is told of a model that has no configured limit. */
const CONTEXT_TOKENS = 128_000;

export const zed: Client = {
  id: "zed",
  name: "Zed",
  setUp(connection) {
    if (!canChat(connection, "/chat/completions", "streaming")) return null;
    const { model, service, baseUrl } = connection;
    const settings = {
      language_models: {
        openai_compatible: {
          [service]: {
            api_url: baseUrl,
            available_models: [{
              name: model.id,
              display_name: model.name,
              max_tokens: numberLimit(model, "context_tokens") ?? CONTEXT_TOKENS,
              capabilities: {
                tools: model.capabilities.has("tools"),
                images: model.capabilities.has("vision"),
              },
            }],
          },
        },
      },
      agent: { default_model: { provider: service, model: model.id } },
    };
    return {
      snippets: [{
        language: "json",
        note: "settings.json (zed: open settings file)",
        text: JSON.stringify(settings, null, 2),
      }],
      hint: `Zed keeps the key itself: run "agent: open settings", and paste it at ${service}.`,
    };
  },
};

export const continueEditor: Client = {
  id: "continue",
  name: "Continue",
  setUp(connection) {
    if (!canChat(connection, "/chat/completions", "streaming")) return null;
    const { model, service, baseUrl } = connection;
    const lines = [
      `name: ${JSON.stringify(service)}`,
      "version: 1.0.0",
      "schema: v1",
      "models:",
      `  - name: ${JSON.stringify(model.name)}`,
      "    provider: openai",
      `    model: ${JSON.stringify(model.id)}`,
      `    apiBase: ${baseUrl}`,
      `    apiKey: ${writtenKey(connection)}`,
    ];
    const abilities = [
      ...model.capabilities.has("tools") ? ["tool_use"] : [],
      ...model.capabilities.has("vision") ? ["image_input"] : [],
    ];
    if (abilities.length > 0) lines.push(`    capabilities: [${abilities.join(", ")}]`);
    return {
      snippets: [{ language: "yaml", note: "~/.continue/config.yaml", text: lines.join("\n") }],
      hint: "Continue is an extension of VS Code and JetBrains, and the command cn.",
    };
  },
};

export const cline: Client = {
  id: "cline",
  name: "Cline",
  setUp(connection) {
    if (!canChat(connection, "/chat/completions", "streaming", "tools")) return null;
    const lines = [
      "API Provider:  OpenAI Compatible",
      `Base URL:      ${connection.baseUrl}`,
      `API Key:       ${writtenKey(connection)}`,
      `Model ID:      ${connection.model.id}`,
    ];
    return { snippets: [{ language: "text", note: "Settings of Cline", text: lines.join("\n") }] };
  },
};

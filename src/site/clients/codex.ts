import { canChat, type Client, keyVariable, type ModelAddress, providerId } from "./client.ts";

/** Settings of Codex: what stands at the top of its file, and the table of the provider. */
export interface CodexSettings {
  readonly top: Readonly<Record<string, string>>;
  /** The path of the table. */
  readonly table: readonly [string, string];
  readonly provider: Readonly<Record<string, string>>;
}

export function codexSettings(address: ModelAddress): CodexSettings {
  const id = providerId(address);
  return {
    top: { model: address.model.id, model_provider: id },
    table: ["model_providers", id],
    provider: {
      name: address.service,
      base_url: address.baseUrl,
      env_key: keyVariable(address),
      wire_api: "responses",
    },
  };
}

/** A line of TOML. The strings of JSON are strings of TOML too. */
function tomlLine([name, value]: readonly [string, string]): string {
  return `${name} = ${JSON.stringify(value)}`;
}

export const codex: Client = {
  id: "codex",
  name: "Codex",
  setUp(connection) {
    if (!canChat(connection, "/responses", "streaming", "tools")) return null;
    const { top, table, provider } = codexSettings(connection);
    const lines = [
      ...Object.entries(top).map(tomlLine),
      "",
      `[${table.join(".")}]`,
      ...Object.entries(provider).map(tomlLine),
    ];
    return {
      snippets: [
        { language: "toml", note: "~/.codex/config.toml", text: lines.join("\n") },
        { language: "sh", note: "", text: "codex" },
      ],
      hint: `Codex reads the key from ${keyVariable(connection)}, also in ~/.codex/.env.`,
    };
  },
};

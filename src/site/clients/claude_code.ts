import {
  canChat,
  type Client,
  keyVariable,
  type ModelAddress,
  rootUrl,
  writtenKey,
} from "./client.ts";
import { shellQuote } from "./shell_quote.ts";

/** The variable of Claude Code that has the key. */
const CLAUDE_KEY = "ANTHROPIC_AUTH_TOKEN";
/** The variable of Claude Code that says which gateway it uses. */
export const CLAUDE_URL = "ANTHROPIC_BASE_URL";

/** Claude Code's names of models; every one is the same model here. */
const MODELS = [
  "ANTHROPIC_MODEL",
  "ANTHROPIC_DEFAULT_OPUS_MODEL",
  "ANTHROPIC_DEFAULT_SONNET_MODEL",
  "ANTHROPIC_DEFAULT_HAIKU_MODEL",
];

/** The environment that Claude Code reads, also from `env` of its settings. */
export function claudeEnvironment(address: ModelAddress): Record<string, string> {
  const { id } = address.model;
  return {
    [CLAUDE_URL]: rootUrl(address),
    [CLAUDE_KEY]: writtenKey(address),
    ...Object.fromEntries(MODELS.map((name) => [name, id])),
  };
}

export const claudeCode: Client = {
  id: "claude-code",
  name: "Claude Code",
  setUp(connection) {
    if (!canChat(connection, "/messages", "streaming", "tools")) return null;
    const environment = claudeEnvironment(connection);
    const lines = Object.entries(environment).map(([name, value]) =>
      `export ${name}=${name === CLAUDE_KEY ? `"$${keyVariable(connection)}"` : shellQuote(value)}`
    );
    return {
      snippets: [
        { language: "sh", note: "In a terminal", text: [...lines, "claude"].join("\n") },
        {
          language: "json",
          note: "Or always: ~/.claude/settings.json",
          text: JSON.stringify({ env: environment }, null, 2),
        },
      ],
    };
  },
};

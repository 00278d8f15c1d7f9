import { anthropicSdk } from "./anthropic_sdk.ts";
import { claudeCode } from "./claude_code.ts";
import type { Client, ModelConnection, Setup } from "./client.ts";
import { codex } from "./codex.ts";
import { curl } from "./curl.ts";
import { cline, continueEditor, zed } from "./editors.ts";
import { langchain } from "./langchain.ts";
import { openaiSdk } from "./openai_sdk.ts";
import { opencode } from "./opencode.ts";
import { taskProgram } from "./task_program.ts";
import { vercelAi } from "./vercel_ai.ts";

const CLIENTS: readonly Client[] = [
  claudeCode,
  codex,
  opencode,
  zed,
  continueEditor,
  cline,
  openaiSdk,
  anthropicSdk,
  vercelAi,
  langchain,
  taskProgram,
  curl,
];

/** A client that can use the model, with what sets it up. */
export interface ReadyClient extends Setup {
  readonly id: string;
  readonly name: string;
}

/** The clients that can use the model. */
export function clientsFor(connection: ModelConnection): ReadyClient[] {
  return CLIENTS.flatMap((client) => {
    const setup = client.setUp(connection);
    return setup === null ? [] : [{ id: client.id, name: client.name, ...setup }];
  });
}

/** Puts the key where the snippets read it. */
export function exportCommand(variable: string, key: string): string {
  return `export ${variable}="${key}"`;
}

import { join } from "node:path";
import jsonc from "jsonc-parser";
import { CLAUDE_URL, claudeEnvironment } from "../../src/site/clients/claude_code.ts";
import type { ModelAddress } from "../../src/site/clients/client.ts";
import { type SettingsEdit, SettingsError } from "./settings_edit.ts";

type Settings = Record<string, unknown> & { env?: Record<string, unknown> };

/** `env` of Claude Code's settings. */
export function claudeEdit(folder: string, address: ModelAddress): SettingsEdit {
  const path = join(folder, "settings.json");
  const wanted = claudeEnvironment(address);
  return {
    path,
    isApplied: (text) => readSettings(path, text).env?.[CLAUDE_URL] === wanted[CLAUDE_URL],
    apply(text) {
      readSettings(path, text);
      return Object.entries(wanted).reduce(
        (edited, [name, value]) => setValue(edited, ["env", name], value),
        text.trim() === "" ? "{}\n" : text,
      );
    },
    remove(text, before) {
      const previous = readSettings(path, before).env;
      const cleared = Object.keys(wanted).reduce(
        (edited, name) => setValue(edited, ["env", name], previous?.[name]),
        text,
      );
      const { env } = readSettings(path, cleared);
      const isLeftover = previous === undefined && Object.keys(env ?? {}).length === 0;
      const rest = isLeftover ? setValue(cleared, ["env"], undefined) : cleared;
      return before === "" && Object.keys(readSettings(path, rest)).length === 0 ? "" : rest;
    },
  };
}

function readSettings(path: string, text: string): Settings {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SettingsError(`${path} is not valid JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new SettingsError(`${path} is not a JSON object.`);
  const { env } = value;
  if (env !== undefined && !isObject(env)) {
    throw new SettingsError(`${path}: "env" is not an object.`);
  }
  return value as Settings;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Changes one value and leaves every other character as it is; undefined removes it. */
function setValue(text: string, path: string[], value: unknown): string {
  const edits = jsonc.modify(text, path, value, { formattingOptions: formattingOf(text) });
  return jsonc.applyEdits(text, edits);
}

/** Indented as the file is. */
function formattingOf(text: string): jsonc.FormattingOptions {
  const [, indent = "  "] = /^([ \t]+)"/m.exec(text) ?? [];
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

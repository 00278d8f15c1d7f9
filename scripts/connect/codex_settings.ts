import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse, TomlError, type TomlTable } from "smol-toml";
import { keyVariable, type ModelAddress, writtenKey } from "../../src/site/clients/client.ts";
import { type CodexSettings, codexSettings } from "../../src/site/clients/codex.ts";
import { type SettingsEdit, SettingsError } from "./settings_edit.ts";
import { removeTable, writeValue, writtenValue } from "./toml_edit.ts";

/** The provider in Codex's settings, and its key in the file of environment variables that Codex reads. */
export function codexEdits(folder: string, address: ModelAddress): SettingsEdit[] {
  return [
    configEdit(join(folder, "config.toml"), codexSettings(address)),
    variableEdit(join(folder, ".env"), keyVariable(address), writtenKey(address)),
  ];
}

function configEdit(path: string, { top, table, provider }: CodexSettings): SettingsEdit {
  const settings = [
    ...Object.entries(top).map(([key, value]) => ({ table: [], key, value })),
    ...Object.entries(provider).map(([key, value]) => ({ table, key, value })),
  ];
  return {
    path,
    isApplied: (text) => tableAt(readToml(path, text), table) !== undefined,
    apply(text) {
      const wanted = readToml(path, text);
      for (const { table, key, value } of settings) openTable(path, wanted, table)[key] = value;
      const edited = settings.reduce(
        (changed, { value, ...place }) => writeValue(changed, place, JSON.stringify(value)),
        text,
      );
      return readBack(path, edited, wanted);
    },
    remove(text, before) {
      const wanted = readToml(path, text);
      const isNew = tableAt(readToml(path, before), table) === undefined;
      // With another provider chosen since, the model belongs to that one.
      const isChosen = wanted.model_provider === top.model_provider;
      const restored = settings.filter(({ table }) => table.length > 0 ? !isNew : isChosen);
      for (const place of restored) {
        const value = writtenValue(before, place);
        const content = openTable(path, wanted, place.table);
        if (value === null) delete content[place.key];
        else content[place.key] = parse(`value = ${value}`).value!;
      }
      const edited = restored.reduce(
        (changed, place) => writeValue(changed, place, writtenValue(before, place)),
        text,
      );
      if (!isNew) return readBack(path, edited, wanted);
      const [group, name] = table;
      const providers = openTable(path, wanted, [group]);
      delete providers[name];
      const rest = removeTable(edited, table);
      // Left empty, it is not there either.
      if (Object.keys(providers).length === 0 && readToml(path, rest)[group] === undefined) {
        delete wanted[group];
      }
      return readBack(path, rest, wanted);
    },
  };
}

/** A key in a file of environment variables, a line each. */
function variableEdit(path: string, name: string, value: string): SettingsEdit {
  const line = new RegExp(`^(?:export[ \\t]+)?${name}[ \\t]*=.*\\n?`, "m");
  return {
    path,
    isApplied: (text) => line.test(text),
    apply(text) {
      if (line.test(text)) return text.replace(line, `${name}=${value}\n`);
      return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${name}=${value}\n`;
    },
    remove: (text, before) => text.replace(line, line.exec(before)?.[0] ?? ""),
  };
}

function readToml(path: string, text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new SettingsError(`${path} is not valid TOML: ${error.message}`);
  }
}

/** The edited text, if it says what it should. */
function readBack(path: string, text: string, wanted: TomlTable): string {
  if (!isDeepStrictEqual(toPlain(readToml(path, text)), toPlain(wanted))) {
    throw new SettingsError(`${path} is written in a way that this program cannot edit.`);
  }
  return text;
}

/** Tables of the parser and of our own have different prototypes; dates and large numbers become texts. */
function toPlain(content: TomlTable): unknown {
  return JSON.parse(
    JSON.stringify(content, (_, value) => typeof value === "bigint" ? String(value) : value),
  );
}

function tableAt(content: TomlTable, path: readonly string[]): TomlTable | undefined {
  return path.reduce<TomlTable | undefined>((table, name) => {
    const found = table?.[name];
    return isTable(found) ? found : undefined;
  }, content);
}

/** The table at a path, made where there is none. */
function openTable(file: string, content: TomlTable, path: readonly string[]): TomlTable {
  return path.reduce((table, name) => {
    const found = table[name] ??= {};
    if (!isTable(found)) throw new SettingsError(`${file}: ${name} is not a table.`);
    return found;
  }, content);
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Date);
}

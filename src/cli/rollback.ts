import { dirname, resolve } from "node:path";
import { readConfigText } from "../platform/config/config_store.ts";
import { callAdminApi } from "./client.ts";
import type { Command } from "./command.ts";
import { reload } from "./reload.ts";

interface StoredConfig {
  version: string;
  activated_at: string;
  source: string;
  files: Record<string, string>;
}

export const rollback: Command = {
  usage: "rollback [file] [--print]",
  summary: "Put the previous configuration back into its file, and reload",
  endpoints: ["GET /admin/v1/config/previous", "POST /admin/v1/config/reload"],
  options: {
    print: { type: "boolean", summary: "Print the previous file instead of writing it" },
  },
  async run(terminal, [file = terminal.settings.configFile], options) {
    const previous = await callAdminApi<StoredConfig>(terminal, "GET", "/config/previous");
    if (options.print === true) {
      terminal.print(previous, previous.source);
      return 0;
    }
    const written = await restoreFiles(file, previous);
    if (!terminal.json) {
      const { version, activated_at } = previous;
      terminal.print(
        null,
        `${written.join(", ")}: version ${version}, in force since ${activated_at}.`,
      );
    }
    return await reload.run(terminal, [], {});
  },
};

/** Writes the file and those that it names; each that differs is kept beside it as `….replaced`. */
async function restoreFiles(file: string, { source, files }: StoredConfig): Promise<string[]> {
  const texts = new Map(
    Object.entries(files).map(([name, text]) => [resolve(dirname(file), name), text]),
  );
  // Last: the gateway may read it as soon as it is written.
  texts.set(file, source);
  const written: string[] = [];
  for (const [path, text] of texts) {
    const current = await readConfigText(path).catch(() => null);
    if (current === text) continue;
    if (current !== null) await Deno.copyFile(path, `${path}.replaced`);
    await Deno.writeTextFile(`${path}.new`, text);
    await Deno.rename(`${path}.new`, path);
    written.push(path);
  }
  return written;
}

import { restoreBackup } from "../platform/database/embedded_backups.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command } from "./command.ts";

export const backup: Command = {
  usage: "backup",
  summary: "Copy the embedded database while the gateway runs, into DATA_DIR/backups",
  endpoints: ["POST /admin/v1/backups"],
  async run(terminal) {
    const made = await callAdminApi<{ folder: string }>(terminal, "POST", "/backups");
    terminal.print(made, `Backup: ${made.folder}`);
    return 0;
  },
};

export const restore: Command = {
  usage: "restore <backup>",
  summary: "Put a backup of the embedded database back into DATA_DIR; the gateway must not run",
  async run(terminal, args) {
    const { dataDir } = terminal.settings;
    const replaced = await restoreBackup(dataDir, argument(args, 0, "backup"));
    terminal.print(
      { data_dir: dataDir, replaced },
      `Restored into ${dataDir}.` +
        (replaced === null ? "" : ` The database that was there is now ${replaced}.`),
    );
    return 0;
  },
};

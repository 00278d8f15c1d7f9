import type { Resealed } from "../platform/secrets/reseal.ts";
import { callAdminApi } from "./client.ts";
import type { Command } from "./command.ts";

export const secretsRotate: Command = {
  usage: "secrets rotate",
  summary: "Seal all stored secrets with the first key of SECRETS_KEY",
  endpoints: ["POST /admin/v1/secrets/rotate"],
  async run(terminal) {
    const done = await callAdminApi<Resealed>(terminal, "POST", "/secrets/rotate");
    const { resealed, unreadable } = done;
    terminal.print(
      done,
      unreadable === 0
        ? `Secrets sealed again: ${resealed}. All are sealed with the first key: the others can be removed.`
        : `Secrets sealed again: ${resealed}. ${unreadable} could not be opened with any key of SECRETS_KEY: ` +
          "add the key that sealed them, and repeat.",
    );
    return unreadable === 0 ? 0 : 1;
  },
};

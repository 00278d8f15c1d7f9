import { openSecretBox } from "../platform/secrets/secret_box.ts";
import { checkSeal } from "../platform/secrets/seal_check.ts";
import type { SecretBox } from "../platform/secrets/types.ts";
import type { Queries } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { type Settings, SettingsError } from "./environment.ts";

/** Opens the box that seals secrets, or says why its keys cannot be those of this database. */
export async function openSecrets(
  sql: Queries,
  { secretsKeys, log }: Pick<Settings, "secretsKeys"> & { log: Pick<Log, "warn"> },
): Promise<SecretBox> {
  const secretBox = openSecretBox(secretsKeys);
  const state = await checkSeal(sql, secretBox);
  if (state === "wrong") {
    throw new SettingsError(
      secretsKeys.length === 0
        ? "Secrets in this database are sealed. Set SECRETS_KEY to the key that sealed them."
        : "SECRETS_KEY has not the key that sealed the secrets in this database. Set the right one. To change " +
          "it, list both, the new one first: SECRETS_KEY=<new>,<earlier>. Then run: gateway secrets rotate",
    );
  }
  if (state === "earlier") {
    log.warn("secrets sealed with an earlier key, run gateway secrets rotate");
  }
  return secretBox;
}

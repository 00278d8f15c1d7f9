import type { Settings } from "./environment.ts";
import { withSecretFiles } from "../lib/yaml/secret_files.ts";
import { parseDatabaseUrl } from "../platform/database/database_url.ts";
import { StorageError } from "../platform/database/storage_error.ts";
import type { Log } from "../platform/telemetry/log.ts";

type Environment = Record<string, string | undefined>;
type SecretSettings =
  & Pick<Settings, "adminToken" | "secretsKeys" | "metricsToken" | "databaseUrl" | "tracing">
  & {
    readonly environment: Environment;
    readonly log: Pick<Log, "hide">;
  };

/**
 * Keeps the process' own secrets out of its log: its tokens, the sealing keys, the database's password, the keys of a
 * trace collector. Returns the environment for configurations: each value is kept out of the log once a configuration
 * refers to it, at the start and after every reload.
 */
export function hideSecrets(settings: SecretSettings): Environment {
  const { adminToken, secretsKeys, metricsToken, databaseUrl, environment, log } = settings;
  log.hide([adminToken, metricsToken, ...secretsKeys, databaseUrl]);
  log.hide(Object.values(settings.tracing?.headers ?? {}));
  if (databaseUrl !== undefined) log.hide([passwordOf(databaseUrl)]);
  return new Proxy(withSecretFiles(environment), {
    get(from, name) {
      const value = typeof name === "string" ? from[name] : undefined;
      if (value !== undefined) log.hide([value]);
      return value;
    },
  });
}

function passwordOf(databaseUrl: string): string | undefined {
  try {
    return parseDatabaseUrl(databaseUrl).password;
  } catch (error) {
    // An invalid URL is reported where the database is opened.
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

import { ConfigError, renderIssues } from "../platform/config/issues.ts";
import { WorkerPoolError } from "./worker_pool.ts";
import { SettingsError } from "./environment.ts";
import { StorageError } from "../platform/database/storage_error.ts";

/** The error as the operator reads it; with a stack only where it is not an expected one.  */
export function formatStartupError(error: unknown): string {
  if (error instanceof ConfigError) {
    const report = renderIssues(error.file, error.source, error.issues, {
      colors: Deno.stderr.isTerminal(),
    });
    return `${report}\n\n${error.message}. The gateway did not start.`;
  }
  const isOurs = [SettingsError, StorageError, WorkerPoolError].some((type) =>
    error instanceof type
  );
  if (isOurs) return (error as Error).message;
  if (error instanceof Deno.errors.AddrInUse) {
    return "The address is in use: another program listens there. Stop it, or set PORT to a free port.";
  }
  if (
    error instanceof Deno.errors.AddrNotAvailable ||
    (error instanceof Error && /lookup address/.test(error.message))
  ) {
    return `This machine cannot listen at HOST: ${error.message}. Set HOST to an address of its own.`;
  }
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

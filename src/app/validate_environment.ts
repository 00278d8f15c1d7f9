import type { Config } from "../platform/config/config.ts";
import { type Settings, SettingsError } from "./environment.ts";

type Environment = Pick<Settings, "databaseUrl" | "adminToken" | "onDeploy" | "workers">;

/** Throws one error with every configured setting that cannot work where this process runs. */
export function validateEnvironment(settings: Environment, { storage }: Pick<Config, "storage">): void {
  const reasons = settings.onDeploy ? deployProblems(settings, storage) : [];
  if (settings.databaseUrl === undefined && storage.queue === "postgres") {
    reasons.push(
      "storage.queue is postgres, but the embedded database has one session and a queue needs more. " +
        "Set DATABASE_URL, or set storage.queue: kv.",
    );
  }
  if (settings.workers > 1) reasons.push(...multiNodeProblems(settings, storage));
  if (reasons.length > 0) {
    throw new SettingsError(["This cannot work here:", ...reasons].join("\n- "));
  }
}

/** Several threads are several nodes that share a machine. */
function multiNodeProblems(settings: Environment, storage: Config["storage"]): string[] {
  const reasons: string[] = [];
  if (settings.databaseUrl === undefined) {
    reasons.push(
      "WORKERS needs a Postgres server: the embedded database serves one. Set DATABASE_URL.",
    );
  }
  if (storage.queue === "kv") reasons.push("WORKERS needs storage.queue: postgres.");
  return reasons;
}

/** An instance on Deno Deploy comes and goes, keeps no files, and has no queue of its own. */
function deployProblems(settings: Environment, storage: Config["storage"]): string[] {
  const reasons: string[] = [];
  if (settings.databaseUrl === undefined) {
    reasons.push(
      "Deno Deploy has no disk for the embedded database. Attach a Postgres database, or set DATABASE_URL.",
    );
  }
  if (storage.queue === "kv") {
    reasons.push("Deno Deploy has no KV queues. Set storage.queue: postgres.");
  }
  if (storage.sessions === "kv") {
    reasons.push(
      "On Deno Deploy an app has Postgres or KV, not both. Set storage.sessions: postgres.",
    );
  }
  if (storage.files === "local") {
    reasons.push(
      "Deno Deploy keeps no files. Set storage.files: s3 and its bucket under storage.s3.",
    );
  }
  if (settings.adminToken === undefined) {
    reasons.push("Deno Deploy has no disk for a generated admin token. Set ADMIN_TOKEN.");
  }
  return reasons;
}

/** Changed settings that were applied when the process started. */
export function settingsNeedingRestart(
  opened: Config["storage"],
  configured: Config["storage"],
): ("storage.queue" | "storage.sessions")[] {
  return [
    ...(opened.queue === configured.queue ? [] : ["storage.queue" as const]),
    ...(opened.sessions === configured.sessions ? [] : ["storage.sessions" as const]),
  ];
}

import type { Config } from "../platform/config/config.ts";
import { type Settings, SettingsError } from "./environment.ts";

type Given = Pick<Settings, "databaseUrl" | "adminToken" | "onDeploy" | "workers">;

/** Refuses at once, and all together, what is declared but cannot work where this process runs. */
export function validateEnvironment(settings: Given, { storage }: Pick<Config, "storage">): void {
  const reasons = settings.onDeploy ? deployObstacle(settings, storage) : [];
  if (settings.databaseUrl === undefined && storage.queue === "postgres") {
    reasons.push(
      "storage.queue is postgres, but the embedded database has one session and a queue needs more. " +
        "Set DATABASE_URL, or declare storage.queue: kv.",
    );
  }
  if (settings.workers > 1) reasons.push(...multiNodeObstacle(settings, storage));
  if (reasons.length > 0) {
    throw new SettingsError(["This cannot work here:", ...reasons].join("\n- "));
  }
}

/** Several threads are several nodes that share a machine. */
function multiNodeObstacle(settings: Given, storage: Config["storage"]): string[] {
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
function deployObstacle(settings: Given, storage: Config["storage"]): string[] {
  const reasons: string[] = [];
  if (settings.databaseUrl === undefined) {
    reasons.push(
      "Deno Deploy has no disk for the embedded database. Attach a Postgres database, or set DATABASE_URL.",
    );
  }
  if (storage.queue === "kv") {
    reasons.push("Deno Deploy has no KV queues. Declare storage.queue: postgres.");
  }
  if (storage.sessions === "kv") {
    reasons.push(
      "On Deno Deploy an app has Postgres or KV, not both. Declare storage.sessions: postgres.",
    );
  }
  if (storage.files === "local") {
    reasons.push(
      "Deno Deploy keeps no files. Declare storage.files: s3 and its bucket under storage.s3.",
    );
  }
  if (settings.adminToken === undefined) {
    reasons.push("Deno Deploy has no disk for a made-up admin token. Set ADMIN_TOKEN.");
  }
  return reasons;
}

/** What a new declaration changes that a running process cannot: it was opened at the start. */
export function settingsNeedingRestart(
  opened: Config["storage"],
  declared: Config["storage"],
): ("storage.queue" | "storage.sessions")[] {
  return [
    ...(opened.queue === declared.queue ? [] : ["storage.queue" as const]),
    ...(opened.sessions === declared.sessions ? [] : ["storage.sessions" as const]),
  ];
}

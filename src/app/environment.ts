import { z } from "zod";
import { toTracingSettings, TRACING_VARIABLES, type TracingSettings } from "./tracing_settings.ts";
import { oneOf, optional, wholeNumber } from "./variable_types.ts";

const Environment = z.object({
  HOST: optional(z.string()),
  PORT: optional(wholeNumber(0, 65535, 8787)),
  GATEWAY_CONFIG: optional(z.string()),
  DATA_DIR: optional(z.string()),
  DATABASE_URL: optional(
    z.string().regex(
      /^postgres(ql)?:\/\//,
      "must start with postgres://, such as postgres://user:password@localhost:5432/tollgate",
    ),
  ),
  DATABASE_WAIT_SECONDS: optional(wholeNumber(0, 3600, 60)),
  ADMIN_TOKEN: optional(
    z.string().min(16, "must have 16 characters or more, such as `openssl rand -hex 32` makes"),
  ),
  SECRETS_KEY: optional(
    z.string().transform((list) => list.split(",").map((key) => key.trim())).refine(
      (keys) => keys.every((key) => key.length >= 32),
      "must have 32 characters or more, such as `openssl rand -hex 32` makes; several keys with commas between them, " +
        "each of that length",
    ),
  ),
  METRICS_TOKEN: optional(
    z.string().min(16, "must have 16 characters or more, such as `openssl rand -hex 32` makes"),
  ),
  GATEWAY_MODE: optional(oneOf(["serve", "drill"])),
  WORKERS: optional(wholeNumber(1, 256, 4)),
  WATCHDOG_SECONDS: optional(wholeNumber(0, 3600, 10)),
  DENO_DEPLOY: optional(z.string()),
  LOG_LEVEL: optional(oneOf(["debug", "info", "warn", "error"])),
  LOG_FORMAT: optional(oneOf(["json", "text"])),
  ...TRACING_VARIABLES,
});

/** Every variable that is a setting. The configuration may refer to others. */
export const SETTING_VARIABLES: readonly string[] = Object.keys(Environment.shape);

export interface Settings {
  host: string;
  port: number;
  configFile: string;
  dataDir: string;
  databaseUrl: string | undefined;
  databaseWaitSeconds: number;
  adminToken: string | undefined;
  /** Encrypt secrets that must be used and so cannot be hashed: the first seals, all open. */
  secretsKeys: readonly string[];
  /** Reads `/metrics` and nothing else. */
  metricsToken: string | undefined;
  /** A restore drill: nothing is sent to providers and receivers, and no task is worked on. */
  isDrill: boolean;
  /** Threads that share the port. */
  workers: number;
  /** How long a thread may be blocked before the process ends; 0: for ever. */
  watchdogSeconds: number;
  /** On Deno Deploy: no disk, instances start and stop at any time. */
  onDeploy: boolean;
  logLevel: "debug" | "info" | "warn" | "error";
  logFormat: "json" | "text";
  /** Null: no traces. */
  tracing: TracingSettings | null;
}

/** Reads the settings. An invalid value is an error, never replaced by a default. */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const read = Environment.safeParse(environment);
  if (!read.success) {
    const reasons = read.error.issues.map(({ path, message }) => `${path.join(".")} ${message}.`);
    throw new SettingsError(`The environment is not usable. ${reasons.join(" ")}`);
  }
  const env = read.data;
  const onDeploy = ["1", "true"].includes(env.DENO_DEPLOY ?? "");
  return {
    // Deno Deploy expects this address, which only its proxy can reach.
    host: env.HOST ?? (onDeploy ? "0.0.0.0" : "127.0.0.1"),
    port: env.PORT ?? (onDeploy ? 8000 : 8787),
    configFile: env.GATEWAY_CONFIG ?? "gateway.yaml",
    dataDir: env.DATA_DIR ?? "data",
    databaseUrl: env.DATABASE_URL,
    databaseWaitSeconds: env.DATABASE_WAIT_SECONDS ?? 60,
    adminToken: env.ADMIN_TOKEN,
    secretsKeys: env.SECRETS_KEY ?? [],
    metricsToken: env.METRICS_TOKEN,
    isDrill: env.GATEWAY_MODE === "drill",
    workers: env.WORKERS ?? 1,
    watchdogSeconds: env.WATCHDOG_SECONDS ?? 10,
    onDeploy,
    logLevel: env.LOG_LEVEL ?? "info",
    logFormat: env.LOG_FORMAT ?? (Deno.stderr.isTerminal() ? "text" : "json"),
    tracing: toTracingSettings(env),
  };
}

export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

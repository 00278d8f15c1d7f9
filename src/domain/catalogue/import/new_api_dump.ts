import { z } from "zod";
import { formatPath } from "../../../lib/yaml/issue.ts";
import { ImportError } from "./imported.ts";

const ISSUES_SHOWN = 20;

type JsonObject = Record<string, unknown>;

/** Columns with JSON are texts in one database and objects in another. What is empty is null. */
const json = z.union([z.string(), z.record(z.string(), z.unknown()), z.null()]).optional()
  .transform((value, context): JsonObject | null => {
    if (value === undefined || value === null) return null;
    if (typeof value === "string" && value.trim() === "") return null;
    const parsed = typeof value === "string" ? parseObject(value) : value;
    if (parsed === null) context.addIssue("expected a JSON object");
    return parsed === null || Object.keys(parsed).length === 0 ? null : parsed;
  });
const text = z.string().nullish().transform((value) => value ?? "");
const number = z.coerce.number().nullish().transform((value) => value ?? 0);
const flag = z.union([z.boolean(), z.number()]).nullish().transform((value) => Boolean(value));
const ratios = z.record(z.string(), z.number());

const Channel = z.object({
  id: z.int(),
  type: z.int(),
  name: text,
  status: z.number(),
  base_url: text,
  /** For Azure, the version of its API. */
  other: text,
  models: text,
  group: text,
  model_mapping: json,
  priority: number,
  weight: number,
  openai_organization: text,
  param_override: json,
  header_override: json,
  status_code_mapping: json,
  channel_info: json,
});

const User = z.object({
  id: z.int(),
  username: text,
  display_name: text,
  email: text,
  group: text,
  role: number,
  status: z.number(),
  quota: number,
});

const Token = z.object({
  id: z.int(),
  user_id: z.int(),
  name: text,
  status: z.number(),
  expired_time: number,
  remain_quota: number,
  unlimited_quota: flag,
  model_limits_enabled: flag,
  model_limits: text,
  allow_ips: text,
  group: text,
});

const Pricing = z.object({
  model_name: z.string(),
  /** 0: by tokens; 1: by call. */
  quota_type: z.int(),
  model_ratio: number,
  model_price: number,
  completion_ratio: number,
  cache_ratio: z.number().nullish(),
  create_cache_ratio: z.number().nullish(),
  audio_ratio: z.number().nullish(),
  audio_completion_ratio: z.number().nullish(),
  billing_mode: text,
  supported_endpoint_types: z.array(z.string()).nullish(),
});

const Dump = z.object({
  channels: z.array(Channel).max(10_000),
  /** As one object, or as the rows of the table. */
  options: z.union([
    z.record(z.string(), z.string().nullish()),
    z.array(z.object({ key: z.string(), value: z.string().nullish() })).transform((rows) =>
      Object.fromEntries(rows.map(({ key, value }) => [key, value]))
    ),
  ]).nullish().transform((value) => value ?? {}),
  users: z.array(User).nullish().transform((value) => value ?? []),
  tokens: z.array(Token).nullish().transform((value) => value ?? []),
  /** What `GET /api/pricing` answers: prices with the factors that are built into new-api. */
  pricing: z.object({ data: z.array(Pricing), group_ratio: ratios.nullish() }).nullish(),
});

export type NewApiDump = z.output<typeof Dump>;
export type NewApiChannel = z.output<typeof Channel>;
export type NewApiUser = z.output<typeof User>;
export type NewApiToken = z.output<typeof Token>;
export type NewApiPricing = z.output<typeof Pricing>;

/** Reads tables of new-api, as docs/operate/migrate.md makes a file of them. */
export function readNewApiDump(file: string, source: string): NewApiDump {
  const read = Dump.safeParse(parseJson(file, source));
  if (read.success) return read.data;
  const { issues } = read.error;
  const shown = issues.slice(0, ISSUES_SHOWN).map(({ path, message }) =>
    `${file}: ${formatPath(path as (string | number)[]) || "the file"}: ${message}`
  );
  const more = issues.length - shown.length;
  throw new ImportError([...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join("\n"));
}

/** The engine's message may quote the file, and so a key: only the place is taken from it. */
function parseJson(file: string, source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    const place = /line (\d+) column (\d+)/.exec((error as Error).message);
    const where = place === null ? file : `${file}:${place[1]}:${place[2]}`;
    throw new ImportError(`${where} is not JSON: see docs/operate/migrate.md for how to make it`);
  }
}

/** An option that is a JSON object of numbers, such as ModelRatio; empty where it is not stored. */
export function readRatios(
  file: string,
  options: NewApiDump["options"],
  name: string,
): ReadonlyMap<string, number> {
  const stored = options[name] ?? "";
  if (stored.trim() === "") return new Map();
  const read = ratios.safeParse(parseObject(stored));
  if (!read.success) {
    throw new ImportError(`${file}: options.${name}: expected a JSON object of numbers`);
  }
  return new Map(Object.entries(read.data));
}

function parseObject(source: string): JsonObject | null {
  try {
    const value = JSON.parse(source);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

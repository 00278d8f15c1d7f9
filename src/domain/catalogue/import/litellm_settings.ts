import { objectOf } from "../catalogue.ts";
import type { ImportNotes } from "./imported.ts";
import type { LitellmDocument } from "./litellm_document.ts";

/** Which models stand in for which, in the order in which they are tried. */
export interface LitellmRouting {
  readonly fallbacks: readonly { readonly model: string; readonly others: readonly string[] }[];
  /** Other names of models. */
  readonly aliases: readonly { readonly alias: string; readonly model: string }[];
  readonly timeout: unknown;
}

/** Why a setting has no counterpart, by its name or how that begins. Values are never shown. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /^(context_window|content_policy)_fallbacks$/,
    "an upstream that refuses a prompt is not followed by another model",
  ],
  [
    /retr(y|ies)|allowed_fails|cooldown|health_check/,
    "upstreams are retried and left alone by the gateway's own rules: docs/operate/reliability.md",
  ],
  [/redis|^cache/, "nodes share their state in Postgres, and answers are not cached"],
  [
    /callback|logging|langfuse|otel|telemetry|verbose|json_logs|alert/,
    "see docs/operate/logs.md, metrics.md and traces.md",
  ],
  [/^drop_params$|^modify_params$/, "fields that a provider does not know are always left out"],
  [/^master_key$/, "ADMIN_TOKEN and admin tokens take its place: docs/operate/secrets.md"],
  [/^database/, "DATABASE_URL is the gateway's own database: docs/operate/deploy.md"],
  [
    /budget|internal_user|team|key_/,
    "accounts, plans and keys have budgets and limits: docs/operate/accounts.md",
  ],
  [/^environment_variables$/, "set them in the environment of the gateway"],
  [/^include$/, "only this file was read: import each file, and join what comes of them"],
  [/guardrail|moderation/, "contents are not inspected"],
];
const NONE = "there is no such setting here";

/** The strategy that upstreams of one priority are chosen by: at random, by weight. */
const SHUFFLE = "simple-shuffle";

/** Reads what has a counterpart, and notes the rest. */
export function readLitellmSettings(
  { router, litellm, others }: LitellmDocument,
  notes: ImportNotes,
): LitellmRouting {
  const { fallbacks, default_fallbacks, model_group_alias, routing_strategy, timeout, ...unread } =
    router;
  const { fallbacks: more, default_fallbacks: moreDefaults, request_timeout, ...unknown } = litellm;
  if (routing_strategy !== undefined && routing_strategy !== SHUFFLE) {
    notes.change(
      "router_settings.routing_strategy",
      "upstreams are chosen by priority, then at random by weight; a failing one is left alone for a while",
    );
  }
  noteUnread("router_settings", unread, notes);
  noteUnread("litellm_settings", unknown, notes);
  for (const [section, value] of Object.entries(others)) {
    const block = objectOf(value);
    if (block === null || section === "environment_variables") {
      noteUnread("", { [section]: value }, notes);
    } else noteUnread(section, block, notes);
  }
  const last = [...textsOf(default_fallbacks), ...textsOf(moreDefaults)];
  if (last.length > 0) {
    notes.leaveOut("default_fallbacks", `${last.join(", ")}: name the models that need them`);
  }
  return {
    fallbacks: [...rulesOf(fallbacks), ...rulesOf(more)],
    aliases: aliasesOf(model_group_alias),
    timeout: timeout ?? request_timeout,
  };
}

function noteUnread(section: string, block: Readonly<Record<string, unknown>>, notes: ImportNotes) {
  for (const name of Object.keys(block)) {
    const reason = REASONS.find(([pattern]) => pattern.test(name))?.[1] ?? NONE;
    notes.leaveOut(section === "" ? name : `${section}.${name}`, reason);
  }
}

/** `[{ gpt-4o: [claude, gemini] }]`. */
function rulesOf(value: unknown): LitellmRouting["fallbacks"] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((rule) =>
    Object.entries(objectOf(rule) ?? {}).map(([model, others]) => ({
      model,
      others: textsOf(others),
    }))
  );
}

/** `{ gpt-4: gpt-4o }` or `{ gpt-4: { model: gpt-4o, hidden: true } }`. */
function aliasesOf(value: unknown): LitellmRouting["aliases"] {
  return Object.entries(objectOf(value) ?? {}).flatMap(([alias, target]) => {
    const model = objectOf(target)?.model ?? target;
    return typeof model === "string" ? [{ alias, model }] : [];
  });
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

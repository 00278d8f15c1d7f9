import type { WebhookDelivery } from "../domain/webhooks/deliveries.ts";
import { type CapturedRequest, explainSignature } from "../domain/webhooks/explain_signature.ts";
import { callAdminApi } from "./client.ts";
import { type Command, text, UsageError, word } from "./command.ts";

export const webhookRedeliver: Command = {
  usage: "webhook redeliver [<delivery>] [--since <time>] [--account <id>] [--endpoint <id>]",
  summary: "Send an event again, or everything that was given up since a moment",
  options: {
    since: { type: "string", summary: "Such as 2027-01-01T00:00:00Z: all given up from then on" },
    account: { type: "string", summary: "With --since: only of this account" },
    endpoint: { type: "string", summary: "With --since: only of this endpoint" },
  },
  async run(terminal, words, options) {
    const since = text(options, "since");
    if ((since === undefined) === (words.length === 0)) {
      throw new UsageError("Name one delivery, or --since <time> for all that were given up.");
    }
    if (since !== undefined) {
      const filter = { account: text(options, "account"), endpoint: text(options, "endpoint") };
      const answer = await callAdminApi<{ count: number }>(
        terminal,
        "POST",
        "/webhooks/redeliver",
        {
          since,
          ...filter,
        },
      );
      terminal.print(answer, `${answer.count} deliveries go out again.`);
      return 0;
    }
    const id = encodeURIComponent(word(words, 0, "delivery"));
    const delivery = await callAdminApi<WebhookDelivery>(
      terminal,
      "POST",
      `/webhooks/deliveries/${id}/redeliver`,
    );
    terminal.print(
      delivery,
      `${delivery.event.id} goes out again to ${delivery.url} after ${delivery.attempt_count} attempts.`,
    );
    return 0;
  },
};

export const webhookVerify: Command = {
  usage: "webhook verify <file> [--secret <whsec>] [--at <time>]",
  summary: "Check a captured request offline: is it signed as it should be, and if not, why",
  options: {
    secret: {
      type: "string",
      summary: "What it should be signed with (default: WEBHOOK_SECRET; - reads it from stdin)",
    },
    at: {
      type: "string",
      summary: "Check as of this moment: Unix seconds or a date (default: now)",
    },
  },
  async run(terminal, words, options) {
    const request = await readCapture(word(words, 0, "file"));
    const given = text(options, "secret") ?? terminal.environment.WEBHOOK_SECRET;
    const secret = given === "-" ? await new Response(Deno.stdin.readable).text() : given;
    if (secret === undefined || secret.trim() === "") {
      throw new UsageError("Name the secret: --secret <whsec>, or the variable WEBHOOK_SECRET.");
    }
    const verification = explainSignature(request, secret.trim(), moment(text(options, "at")));
    terminal.print(verification, verification.message);
    return verification.ok ? 0 : 1;
  },
};

function moment(at: string | undefined): number {
  if (at === undefined) return Math.floor(Date.now() / 1000);
  const seconds = /^\d{1,12}$/.test(at) ? Number(at) : Math.floor(Date.parse(at) / 1000);
  if (Number.isNaN(seconds)) throw new UsageError("--at takes Unix seconds or a date.");
  return seconds;
}

/**
 * A file as people make them: header lines, an empty line and the body, with or without a request line;
 * or `{"headers": {…}, "body": "…"}`.
 */
async function readCapture(file: string): Promise<CapturedRequest> {
  let bytes: Uint8Array;
  try {
    bytes = await Deno.readFile(file);
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
  const asText = new TextDecoder().decode(bytes);
  const json = parse(asText);
  if (json !== null) {
    const headers = Object.entries(json.headers).map(([name, value]) =>
      [name.toLowerCase(), String(value)] as const
    );
    return { headers: Object.fromEntries(headers), body: new TextEncoder().encode(json.body) };
  }
  const end = /\r?\n\r?\n/.exec(asText);
  if (end === null) {
    throw new UsageError(`${file} has no empty line between headers and body.`);
  }
  const head = asText.slice(0, end.index).split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^([A-Za-z0-9-]+):(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name.toLowerCase(), value!.trim()]];
  });
  // The body to the byte: text would change what is not UTF-8.
  const start = new TextEncoder().encode(asText.slice(0, end.index + end[0].length)).length;
  return { headers: Object.fromEntries(head), body: bytes.subarray(start) };
}

function parse(text: string): { headers: Record<string, unknown>; body: string } | null {
  try {
    const value = JSON.parse(text);
    return typeof value?.headers === "object" && typeof value.body === "string" ? value : null;
  } catch {
    return null;
  }
}

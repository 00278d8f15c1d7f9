import type { WebhookDelivery } from "../domain/webhooks/deliveries.ts";
import { type CapturedRequest, explainSignature } from "../domain/webhooks/explain_signature.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command, optionText, UsageError } from "./command.ts";

export const webhookRedeliver: Command = {
  usage: "webhook redeliver [<delivery>] [--since <time>] [--account <id>] [--endpoint <id>]",
  summary: "Send a webhook event again, or all events whose attempts have all failed",
  endpoints: [
    "POST /admin/v1/webhooks/deliveries/{id}/redeliver",
    "POST /admin/v1/webhooks/redeliver",
  ],
  options: {
    since: {
      type: "string",
      summary: "All failed deliveries since this time, such as 2027-01-01T00:00:00Z",
    },
    account: { type: "string", summary: "With --since: only deliveries of this account" },
    endpoint: { type: "string", summary: "With --since: only deliveries to this endpoint" },
  },
  async run(terminal, args, options) {
    const since = optionText(options, "since");
    if ((since === undefined) === (args.length === 0)) {
      throw new UsageError("Give a delivery id, or --since <time> for all failed deliveries.");
    }
    if (since !== undefined) {
      const filter = {
        account: optionText(options, "account"),
        endpoint: optionText(options, "endpoint"),
      };
      const result = await callAdminApi<{ count: number }>(
        terminal,
        "POST",
        "/webhooks/redeliver",
        {
          since,
          ...filter,
        },
      );
      terminal.print(result, `Redelivery queued: ${result.count} deliveries.`);
      return 0;
    }
    const id = encodeURIComponent(argument(args, 0, "delivery"));
    const delivery = await callAdminApi<WebhookDelivery>(
      terminal,
      "POST",
      `/webhooks/deliveries/${id}/redeliver`,
    );
    terminal.print(
      delivery,
      `Redelivery queued: event ${delivery.event.id} to ${delivery.url}, ${delivery.attempt_count} attempts so far.`,
    );
    return 0;
  },
};

export const webhookVerify: Command = {
  usage: "webhook verify <file> [--secret <whsec>] [--at <time>]",
  summary: "Verify the signature of a captured webhook request, and explain why it is invalid",
  options: {
    secret: {
      type: "string",
      summary: "Signing secret (default: WEBHOOK_SECRET; - reads it from stdin)",
    },
    at: {
      type: "string",
      summary: "Verify as of this time: Unix seconds or a date (default: now)",
    },
  },
  async run(terminal, args, options) {
    const request = await readCapture(argument(args, 0, "file"));
    const given = optionText(options, "secret") ?? terminal.environment.WEBHOOK_SECRET;
    const secret = given === "-" ? await new Response(Deno.stdin.readable).text() : given;
    if (secret === undefined || secret.trim() === "") {
      throw new UsageError("Missing secret: use --secret <whsec>, or set WEBHOOK_SECRET.");
    }
    const verification = explainSignature(
      request,
      secret.trim(),
      unixSeconds(optionText(options, "at")),
    );
    terminal.print(verification, verification.message);
    return verification.ok ? 0 : 1;
  },
};

function unixSeconds(at: string | undefined): number {
  if (at === undefined) return Math.floor(Date.now() / 1000);
  const seconds = /^\d{1,12}$/.test(at) ? Number(at) : Math.floor(Date.parse(at) / 1000);
  if (Number.isNaN(seconds)) throw new UsageError("--at must be Unix seconds or a date.");
  return seconds;
}

/**
 * Reads a captured request: header lines, an empty line and the body, with or without a request line; or
 * JSON `{"headers": {…}, "body": "…"}`.
 */
async function readCapture(file: string): Promise<CapturedRequest> {
  let bytes: Uint8Array;
  try {
    bytes = await Deno.readFile(file);
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
  const asText = new TextDecoder().decode(bytes);
  const json = parseJsonCapture(asText);
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
  // The body as bytes: decoding would change bytes that are not UTF-8.
  const start = new TextEncoder().encode(asText.slice(0, end.index + end[0].length)).length;
  return { headers: Object.fromEntries(head), body: bytes.subarray(start) };
}

function parseJsonCapture(text: string): { headers: Record<string, unknown>; body: string } | null {
  try {
    const value = JSON.parse(text);
    return typeof value?.headers === "object" && typeof value.body === "string" ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

import { readAdminToken } from "../app/admin_token.ts";
import { COMMAND_LINE } from "../lib/command_line_agent.ts";
import { withoutTrailing } from "../lib/without_trailing.ts";
import type { Terminal } from "./command.ts";

/** The gateway responded with an error, or could not be reached. */
export class CallError extends Error {
  override readonly name = "CallError";
  constructor(message: string, readonly body: unknown = null) {
    super(message);
  }
}

const ALL_INTERFACES = /^(0\.0\.0\.0|::|\[::\])$/;

/** Calls the admin API of the running gateway. */
export async function callAdminApi<T>(
  terminal: Terminal,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  return readJson(await sendToGateway(terminal, method, path, body)) as T;
}

/** Reads a text, such as CSV, from the admin API of the running gateway. */
export async function readAdminText(terminal: Terminal, path: string): Promise<string> {
  return await sendToGateway(terminal, "GET", path);
}

/** The body of a successful response. */
async function sendToGateway(
  { settings, environment }: Terminal,
  method: string,
  path: string,
  body?: unknown,
): Promise<string> {
  // A gateway that listens on all interfaces is reachable on the loopback address.
  const host = ALL_INTERFACES.test(settings.host) ? "127.0.0.1" : settings.host;
  const url = withoutTrailing(
    environment.GATEWAY_URL ?? `http://${host}:${settings.port}`,
    "/",
  );
  const token = settings.adminToken ?? await storedToken(settings.dataDir);
  let response: Response;
  try {
    response = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "user-agent": COMMAND_LINE,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new CallError(
      `Cannot reach the gateway at ${url}. Start it, or set GATEWAY_URL. (${
        error instanceof Error ? error.message : error
      })`,
    );
  }
  const text = await response.text();
  if (response.ok) return text;
  const reply = readJson(text);
  const { error, request_id } = (reply ?? {}) as {
    error?: { message?: string };
    request_id?: string;
  };
  const id = request_id === undefined ? "" : ` (${request_id})`;
  throw new CallError(`${error?.message ?? `HTTP ${response.status}`}${id}`, reply);
}

async function storedToken(dataDir: string): Promise<string> {
  try {
    return await readAdminToken(dataDir);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied)) {
      throw error;
    }
    throw new CallError(
      `No admin token: set ADMIN_TOKEN, or set DATA_DIR to the data folder of the gateway. (Cannot read ${dataDir}/admin-token.)`,
    );
  }
}

/** A body as JSON; null when it is not JSON, such as the error page of a proxy. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

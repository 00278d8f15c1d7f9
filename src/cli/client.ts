import { readAdminToken } from "../app/admin_token.ts";
import { withoutTrailing } from "../lib/without_trailing.ts";
import type { Terminal } from "./command.ts";

/** The gateway answered with an error, or not at all. */
export class CallError extends Error {
  override readonly name = "CallError";
  constructor(message: string, readonly body: unknown = null) {
    super(message);
  }
}

const NOWHERE = /^(0\.0\.0\.0|::|\[::\])$/;

/** Calls the operator's API of the running gateway. */
export async function callAdminApi<T>(
  terminal: Terminal,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const { settings, environment } = terminal;
  // A gateway that listens everywhere is reached on this machine.
  const host = NOWHERE.test(settings.host) ? "127.0.0.1" : settings.host;
  const address = withoutTrailing(
    environment.GATEWAY_URL ?? `http://${host}:${settings.port}`,
    "/",
  );
  const token = settings.adminToken ?? await readAdminToken(settings.dataDir).catch(() => {
    throw new CallError(
      `There is no admin token: set ADMIN_TOKEN, or DATA_DIR to the gateway's folder (${settings.dataDir} has none).`,
    );
  });
  let response: Response;
  try {
    response = await fetch(`${address}/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new CallError(
      `No gateway answers at ${address}: start it, or set GATEWAY_URL. (${
        error instanceof Error ? error.message : error
      })`,
    );
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) {
    const { error, request_id } = (answer ?? {}) as {
      error?: { message?: string };
      request_id?: string;
    };
    const id = request_id === undefined ? "" : ` (${request_id})`;
    throw new CallError(`${error?.message ?? `HTTP ${response.status}`}${id}`, answer);
  }
  return answer as T;
}

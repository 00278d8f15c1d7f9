import type { GrantRequest } from "../../domain/accounts/browser_grants.ts";

/** One thing that is wrong with a request for browser authorization, for the person in front of it. */
export interface ConnectFault {
  readonly parameter: string;
  readonly text: string;
}

const CLIENT = /^[A-Za-z0-9._-]{2,64}$/;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost):([1-9]\d{0,4})\/callback$/;
const STATE_CHARACTERS_MAX = 1024;

/** Reads the parameters of /connect/browser-auth: a request, or everything that is wrong with it. */
export function readConnectRequest(
  query: URLSearchParams,
): { request: GrantRequest } | { faults: ConnectFault[] } {
  const faults: ConnectFault[] = [];
  const one = (parameter: string, check: (value: string) => string | null): string => {
    const [value = "", ...more] = query.getAll(parameter);
    const text = value === ""
      ? "is missing."
      : more.length > 0
      ? "is given more than once."
      : check(value);
    if (text !== null) faults.push({ parameter, text });
    return value;
  };
  const client = one(
    "client",
    (value) =>
      CLIENT.test(value)
        ? null
        : "must be 2 to 64 characters: letters, digits, dots, underscores and hyphens.",
  );
  one("response_type", (value) => value === "api_key" ? null : 'must be "api_key".');
  const redirectUri = one("redirect_uri", (value) => {
    const port = LOOPBACK.exec(value)?.[1];
    return port !== undefined && Number(port) <= 65535
      ? null
      : "must be http://127.0.0.1:<port>/callback or http://localhost:<port>/callback, and nothing else.";
  });
  const state = one(
    "state",
    (value) =>
      value.includes("\0")
        ? "must not hold a NUL character."
        : value.length <= STATE_CHARACTERS_MAX
        ? null
        : `must be at most ${STATE_CHARACTERS_MAX} characters.`,
  );
  return faults.length > 0 ? { faults } : { request: { client, redirectUri, state } };
}

/** A request as the query it came in. As it is, a form would send other line breaks than it was given. */
export function connectQuery({ client, redirectUri, state }: GrantRequest): string {
  return new URLSearchParams({
    client,
    response_type: "api_key",
    redirect_uri: redirectUri,
    state,
  }).toString();
}

/** The program's own address, with the answer. */
export function callbackAddress(
  { redirectUri, state }: GrantRequest,
  answer: { api_key: string } | { error: "access_denied" },
): string {
  // A form's "+" for a space is a plus to who reads it as an address: the state must be as it was sent.
  const query = new URLSearchParams({ ...answer, state }).toString().replaceAll("+", "%20");
  return `${redirectUri}?${query}`;
}

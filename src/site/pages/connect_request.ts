import type { GrantRequest } from "../../domain/accounts/browser_grants.ts";

/** One error of a browser authorization request. */
export interface ConnectError {
  readonly parameter: string;
  readonly text: string;
}

const CLIENT_CHARACTERS = { min: 2, max: 64 };
const CLIENT = /^[A-Za-z0-9._-]+$/;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost):([1-9]\d{0,4})\/callback$/;
const STATE_CHARACTERS_MAX = 1024;

/** Reads the parameters of /connect/browser-auth: a request, or all its errors. */
export function readConnectRequest(
  query: URLSearchParams,
): { request: GrantRequest } | { errors: ConnectError[] } {
  const errors: ConnectError[] = [];
  const one = (parameter: string, check: (value: string) => string | null): string => {
    const [value = "", ...more] = query.getAll(parameter);
    const text = value === ""
      ? "is missing."
      : more.length > 0
      ? "is given more than once."
      : check(value);
    if (text !== null) errors.push({ parameter, text });
    return value;
  };
  const client = one(
    "client",
    (value) =>
      CLIENT.test(value) && value.length >= CLIENT_CHARACTERS.min &&
        value.length <= CLIENT_CHARACTERS.max
        ? null
        : `must be ${CLIENT_CHARACTERS.min} to ${CLIENT_CHARACTERS.max} characters: ` +
          "letters, digits, dots, underscores and hyphens.",
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
        ? "must not contain a NUL character."
        : value.length <= STATE_CHARACTERS_MAX
        ? null
        : `must be at most ${STATE_CHARACTERS_MAX} characters.`,
  );
  return errors.length > 0 ? { errors } : { request: { client, redirectUri, state } };
}

/** The request as a query string. Forms would change the line breaks of plain values. */
export function connectQuery({ client, redirectUri, state }: GrantRequest): string {
  return new URLSearchParams({
    client,
    response_type: "api_key",
    redirect_uri: redirectUri,
    state,
  }).toString();
}

/** The program's redirect URI with the result. */
export function callbackUrl(
  { redirectUri, state }: GrantRequest,
  result: { api_key: string } | { error: "access_denied" },
): string {
  // Some programs read "+" as a plus: the state must come back exactly as it was sent.
  const query = new URLSearchParams({ ...result, state }).toString().replaceAll("+", "%20");
  return `${redirectUri}?${query}`;
}

import type { Json } from "./chat_gateway.ts";
import type { TestGateway } from "./open_gateway.ts";

/** Sends a body to an endpoint under /v1 with the account's key. */
export function post(
  gateway: Pick<TestGateway, "fetch" | "key">,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return gateway.fetch(`/v1${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

/** The events of a stream whose events have names: each name must be the type of its data. */
export function namedEvents(text: string): Json[] {
  return text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":")).map(
    (event) => {
      const [, name, data] = /^event: (\S+)\ndata: (.*)$/s.exec(event) ?? [];
      const parsed = JSON.parse(data!);
      if (parsed.type !== name) throw new Error(`${name} holds ${data}`);
      return parsed;
    },
  );
}

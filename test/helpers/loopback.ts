/** A program on this machine that waits for its key, as scripts/connect.ts does. */
export interface Loopback extends AsyncDisposable {
  readonly port: number;
  /** The queries that came to /callback, in order. */
  readonly calls: URLSearchParams[];
  /** The headers of those calls. */
  readonly headers: Headers[];
  next(): Promise<URLSearchParams>;
}

export function openLoopback(): Loopback {
  const calls: URLSearchParams[] = [];
  const headers: Headers[] = [];
  const waiting: ((call: URLSearchParams) => void)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/callback") return new Response("not here", { status: 404 });
    calls.push(searchParams);
    headers.push(request.headers);
    waiting.shift()?.(searchParams);
    return new Response("<title>Got it</title>You can close this.", {
      headers: { "content-type": "text/html" },
    });
  });
  return {
    port: server.addr.port,
    calls,
    headers,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The address a program opens in the browser. */
export function connectAddress(
  site: string,
  redirectUri: string,
  more: Record<string, string> = {},
): string {
  const query = { client: "my-terminal", response_type: "api_key", redirect_uri: redirectUri };
  return `${site}/connect/browser-auth?${new URLSearchParams({
    ...query,
    state: "s t/a+t&e=1",
    ...more,
  })}`;
}

const PRIVATE = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

export interface KeyRequest {
  readonly site: string;
  /** The name that the person is asked about. */
  readonly client: string;
  readonly timeoutMs: number;
  readonly opensBrowser: boolean;
}

/**
 * The whole of browser authorization, to copy from: listen, open the browser, wait for the callback that has our
 * state.
 */
export async function askForKey(
  { site, client, timeoutMs, opensBrowser }: KeyRequest,
): Promise<string> {
  const state = crypto.randomUUID();
  const callback = Promise.withResolvers<URLSearchParams>();
  let received: URLSearchParams | undefined;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/done" && received !== undefined) {
      callback.resolve(received);
      return page("Done: you can close this window.");
    }
    // A request without our state does not come from the page that was opened.
    if (pathname !== "/callback" || searchParams.get("state") !== state) {
      return page("This request was not expected.", 400);
    }
    // A window leaves the URL with the key at once; a request in the background needs no page.
    if (request.headers.get("sec-fetch-mode") === "navigate") {
      received = searchParams;
      return new Response(null, { status: 303, headers: { location: "/done", ...PRIVATE } });
    }
    callback.resolve(searchParams);
    return page("Received.");
  });
  const timer = setTimeout(
    () => callback.reject(new Error("No response from the browser in time: run this again.")),
    timeoutMs,
  );
  try {
    const entry = `${site}/connect/browser-auth?${new URLSearchParams({
      client,
      response_type: "api_key",
      redirect_uri: `http://127.0.0.1:${server.addr.port}/callback`,
      state,
    })}`;
    console.error(`Open this URL if your browser does not:\n\n  ${entry}\n`);
    if (opensBrowser) await openInBrowser(entry);
    const query = await callback.promise;
    if (query.get("error") === "access_denied") {
      throw new Error("Access was denied in the browser.");
    }
    const key = query.get("api_key");
    if (key === null) throw new Error("The callback has no key.");
    return key;
  } finally {
    clearTimeout(timer);
    // The last page is still sent, so that the browser knows that the key has arrived.
    await server.shutdown();
  }
}

function page(text: string, status = 200): Response {
  return new Response(`<!doctype html><title>${text}</title><p>${text}</p>`, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", connection: "close", ...PRIVATE },
  });
}

async function openInBrowser(url: string): Promise<void> {
  const [program, ...args] = {
    darwin: ["open"],
    windows: ["rundll32", "url.dll,FileProtocolHandler"],
  }[Deno.build.os as string] ?? ["xdg-open"];
  await new Deno.Command(program!, { args: [...args, url], stdout: "null", stderr: "null" })
    .output().catch(() => undefined);
}

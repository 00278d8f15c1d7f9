/**
 * `deno run -A scripts/connect.ts [--site <url>] [--client <name>] [--no-open] [--timeout <seconds>]`
 *
 * Gets an API key through the browser, as any program on a user's computer can: an example to copy from.
 * Only the key is written to stdout, so `export TOLLGATE_API_KEY="$(deno run -A
 * scripts/connect.ts)"` keeps it off the screen; messages go to stderr.
 */
import { parseArgs } from "node:util";

const print = (text: string) => console.error(text);
const PRIVATE = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

const { values: options } = parseArgs({
  options: {
    site: { type: "string", default: "http://127.0.0.1:8787" },
    client: { type: "string", default: "connect-example" },
    "no-open": { type: "boolean", default: false },
    timeout: { type: "string", default: "300" },
  },
});

try {
  const site = options.site.replace(/\/+$/, "");
  const key = await askForKey(site, options.client, Number(options.timeout) * 1000);
  await checkKey(site, key);
  if (Deno.stdout.isTerminal()) print(`\nKeep the key where your program reads it, for example:\n`);
  console.log(Deno.stdout.isTerminal() ? `export TOLLGATE_API_KEY="${key}"` : key);
} catch (error) {
  print(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}

/** The whole flow: listen, open the browser, wait for the callback that has our state. */
async function askForKey(site: string, client: string, timeoutMs: number): Promise<string> {
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
    print(`Open this URL if your browser does not:\n\n  ${entry}\n`);
    if (!options["no-open"]) await openInBrowser(entry);
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

async function checkKey(site: string, key: string): Promise<void> {
  const response = await fetch(`${site}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const list = await response.json();
  if (!response.ok) throw new Error(`The key was not accepted: ${list.error?.message}`);
  print(`The key works: ${list.data.length} models.`);
}

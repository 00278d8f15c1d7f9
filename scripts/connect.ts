/**
 * `deno run -A scripts/connect.ts [--site <address>] [--client <name>] [--no-open] [--timeout <seconds>]`
 *
 * Gets an API key through the browser, as any program on a person's computer can: a reference to copy
 * from. The key is all that is written to stdout, so `export TOLLGATE_API_KEY="$(deno run -A
 * scripts/connect.ts)"` keeps it off the screen; everything for people goes to stderr.
 */
import { parseArgs } from "node:util";

const say = (text: string) => console.error(text);
const UNSEEN = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

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
  if (Deno.stdout.isTerminal()) say(`\nKeep the key where your program reads it, for example:\n`);
  console.log(Deno.stdout.isTerminal() ? `export TOLLGATE_API_KEY="${key}"` : key);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}

/** The whole flow: listen, open the browser, wait for the answer that has our state. */
async function askForKey(site: string, client: string, timeoutMs: number): Promise<string> {
  const state = crypto.randomUUID();
  const answer = Promise.withResolvers<URLSearchParams>();
  let landed: URLSearchParams | undefined;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/done" && landed !== undefined) {
      answer.resolve(landed);
      return page("Done: you can close this window.");
    }
    // Whoever does not know the state was not asked: it is not even an answer.
    if (pathname !== "/callback" || searchParams.get("state") !== state) {
      return page("This is not what was asked for.", 400);
    }
    // A window leaves the key's address at once; a call in the background needs no page.
    if (request.headers.get("sec-fetch-mode") === "navigate") {
      landed = searchParams;
      return new Response(null, { status: 303, headers: { location: "/done", ...UNSEEN } });
    }
    answer.resolve(searchParams);
    return page("Got it.");
  });
  const timer = setTimeout(
    () => answer.reject(new Error("Nobody answered in the browser: run it again.")),
    timeoutMs,
  );
  try {
    const entry = `${site}/connect/browser-auth?${new URLSearchParams({
      client,
      response_type: "api_key",
      redirect_uri: `http://127.0.0.1:${server.addr.port}/callback`,
      state,
    })}`;
    say(`Open this address if your browser does not:\n\n  ${entry}\n`);
    if (!options["no-open"]) await openInBrowser(entry);
    const query = await answer.promise;
    if (query.get("error") === "access_denied") throw new Error("It was refused in the browser.");
    const key = query.get("api_key");
    if (key === null) throw new Error("The answer has no key.");
    return key;
  } finally {
    clearTimeout(timer);
    // Lets the last page out, so that the browser hears that the key has arrived.
    await server.shutdown();
  }
}

function page(text: string, status = 200): Response {
  return new Response(`<!doctype html><title>${text}</title><p>${text}</p>`, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", connection: "close", ...UNSEEN },
  });
}

async function openInBrowser(address: string): Promise<void> {
  const [program, ...words] = {
    darwin: ["open"],
    windows: ["rundll32", "url.dll,FileProtocolHandler"],
  }[Deno.build.os as string] ?? ["xdg-open"];
  await new Deno.Command(program!, { args: [...words, address], stdout: "null", stderr: "null" })
    .output().catch(() => undefined);
}

async function checkKey(site: string, key: string): Promise<void> {
  const response = await fetch(`${site}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const list = await response.json();
  if (!response.ok) throw new Error(`The key was not accepted: ${list.error?.message}`);
  say(`The key works: ${list.data.length} models.`);
}

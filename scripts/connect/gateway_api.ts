/** What the program asks the gateway for. */

interface ListedModel {
  readonly id: string;
  readonly type: string;
  readonly capabilities: readonly string[];
}

/** The name of the service, and the URL of its API: the one of the site unless another is configured. */
export async function readService(site: string): Promise<{ service: string; baseUrl: string }> {
  const document = await getJson(`${site}/openapi.json`);
  const { pathname, origin } = new URL(document.servers[0].url, site);
  return { service: document.info.title, baseUrl: `${origin}${pathname.replace(/\/$/, "")}/v1` };
}

/** The models that the key can use: a key that does not work fails here. */
export async function listModels(baseUrl: string, key: string): Promise<ListedModel[]> {
  const { data } = await getJson(`${baseUrl}/models`, { authorization: `Bearer ${key}` });
  return data;
}

/** The wanted model, or the first that coding agents can use. */
export function chooseModel(models: readonly ListedModel[], wanted: string | undefined): string {
  const usable = models.filter(({ type, capabilities }) =>
    type === "chat" && capabilities.includes("tools") && capabilities.includes("streaming")
  ).map(({ id }) => id);
  const chosen = wanted === undefined ? usable[0] : usable.find((id) => id === wanted);
  if (chosen !== undefined) return chosen;
  throw new Error(
    usable.length === 0
      ? "Your account has no chat model with tools and streaming, which coding agents need."
      : `Coding agents cannot use the model "${wanted}": run this again with one of ${
        usable.join(", ")
      }. Nothing was written; the key that this computer had before no longer works.`,
  );
}

// deno-lint-ignore no-explicit-any
async function getJson(url: string, headers: Record<string, string> = {}): Promise<any> {
  const response = await fetch(url, { headers }).catch((error) => {
    throw new Error(`${url} cannot be reached: ${error.message}`);
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  throw new Error(body?.error?.message ?? `${url} answered with status ${response.status}.`);
}

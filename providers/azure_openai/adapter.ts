import type { Adapter, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { readProvider } from "../dialect/provider_file.ts";
import { chatAdapter, openedLater } from "../dialect/file_adapter.ts";
import { join } from "../dialect/write.ts";
import source from "./provider.yaml" with { type: "text" };

/** The newest stable version; `?api-version=` in the configured base URL replaces it. */
const API_VERSION = "2024-10-21";

/**
 * Azure OpenAI. The configured base URL is that of the resource (`https://name.openai.azure.com`), and the
 * upstream model is the name of the deployment; or the base URL is that of the newer API, `…/openai/v1`,
 * which needs no version.
 */
export const adapter: Adapter = openedLater(["chat"], () => {
  const chat = chatAdapter(readProvider("azure_openai/provider.yaml", source));
  return {
    types: ["chat"],
    baseUrl: null,
    chat: {
      ...chat,
      write: (request, target) => ({ ...chat.write(request, target), url: addressOf(target) }),
    },
  };
});

function addressOf({ baseUrl, model }: UpstreamTarget): string {
  const [address, query] = baseUrl.split("?") as [string, string?];
  if (/\/openai\/v1\/*$/.test(address)) {
    return join(address, `/chat/completions${query === undefined ? "" : `?${query}`}`);
  }
  const deployment = `/openai/deployments/${encodeURIComponent(model)}/chat/completions`;
  return join(address, `${deployment}?${query ?? `api-version=${API_VERSION}`}`);
}

import type { Adapter, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { readProvider } from "../dialect/provider_file.ts";
import { embeddingAdapter } from "../dialect/embeddings.ts";
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
export const adapter: Adapter = openedLater(["chat", "embedding"], () => {
  const file = readProvider("azure_openai/provider.yaml", source);
  const chat = chatAdapter(file);
  const embeddings = embeddingAdapter(file);
  return {
    types: ["chat", "embedding"],
    baseUrl: null,
    chat: {
      ...chat,
      write: (request, target) => ({
        ...chat.write(request, target),
        url: addressOf(target, "/chat/completions"),
      }),
    },
    embeddings: {
      ...embeddings,
      write: (request, target) => ({
        ...embeddings.write(request, target),
        url: addressOf(target, "/embeddings"),
      }),
    },
  };
});

function addressOf({ baseUrl, model }: UpstreamTarget, path: string): string {
  const [address, query] = baseUrl.split("?") as [string, string?];
  if (/\/openai\/v1\/*$/.test(address)) {
    return join(address, `${path}${query === undefined ? "" : `?${query}`}`);
  }
  const deployment = `/openai/deployments/${encodeURIComponent(model)}${path}`;
  return join(address, `${deployment}?${query ?? `api-version=${API_VERSION}`}`);
}

import { type EmbeddingsRequest, REQUESTS } from "../../../schemas/requests.ts";
import type { Route } from "../../platform/config/config.ts";
import { createEmbeddings } from "../../workflows/embeddings/create_embeddings.ts";
import { ignoredHeader, unknownNames } from "../dialects/translated.ts";
import { accountOf, type BodyEndpoint, sendJson } from "../exchange.ts";
import type { ChatEndpointDeps } from "./answer_chat.ts";
import { requestedModel } from "./create_generation.ts";
import { renderEmbeddings } from "./render_embeddings.ts";
import { noticeHeaders } from "./retrieve_model.ts";

const KNOWN = new Set(Object.keys(REQUESTS.embeddings.schema.properties as object));

/** POST /v1/embeddings */
export function embeddings(
  { chat }: ChatEndpointDeps,
  route: Route,
): BodyEndpoint<EmbeddingsRequest> {
  return async function embeddings(c, body) {
    const { config, requestId, clientRequestId, caller, accountPlan, logged } = c.env;
    const model = requestedModel(c, body.model, route);
    const made = await createEmbeddings(chat, {
      requestId,
      clientRequestId,
      config,
      account: accountOf(c),
      model,
      body,
      tokenRate: { apiKey: caller!.key, perMinute: accountPlan!.rates.tokensPerMinute },
      signal: c.req.raw.signal,
      logged: logged!,
    });
    return sendJson(renderEmbeddings(model.id, made), 200, {
      ...noticeHeaders(model),
      ...ignoredHeader(unknownNames(body, KNOWN)),
    });
  };
}

import { type EmbeddingsRequest, REQUESTS } from "../../../schemas/requests.ts";
import type { Route } from "../../platform/config/config.ts";
import { createEmbeddings } from "../../workflows/embeddings/create_embeddings.ts";
import { ignoredHeader, unknownNames } from "../dialects/translated.ts";
import { accountOf, type BodyEndpoint, sendJson } from "../exchange.ts";
import type { ChatEndpointDeps } from "./answer_chat.ts";
import { answerOnce } from "./answer_once.ts";
import { requestedModel } from "./create_generation.ts";
import { renderEmbeddings } from "./render_embeddings.ts";
import { noticeHeaders } from "./retrieve_model.ts";

const KNOWN = new Set(Object.keys(REQUESTS.embeddings.schema.properties as object));
const decoder = new TextDecoder();

/** POST /v1/embeddings */
export function embeddings(
  deps: ChatEndpointDeps,
  route: Route,
): BodyEndpoint<EmbeddingsRequest> {
  return answerOnce(deps, async function embeddings(c, body, claim) {
    const { config, requestId, clientRequestId, caller, accountPlan, logged } = c.env;
    const model = requestedModel(c, body.model, route);
    const made = await createEmbeddings(deps.chat, {
      requestId,
      clientRequestId,
      config,
      account: accountOf(c),
      model,
      body,
      tokenRate: { apiKey: caller!.key, perMinute: accountPlan!.rates.tokensPerMinute },
      // A client that repeats its request is to find the answer, even if its connection broke.
      signal: claim === null ? c.req.raw.signal : new AbortController().signal,
      claim,
      logged: logged!,
    });
    const json = renderEmbeddings(model.id, made);
    if (claim !== null) {
      const isWhole = json instanceof Uint8Array;
      await claim.keep(isWhole ? { body: decoder.decode(json), isStream: false } : null);
    }
    return sendJson(json, 200, {
      ...noticeHeaders(model),
      ...ignoredHeader(unknownNames(body, KNOWN)),
    });
  });
}

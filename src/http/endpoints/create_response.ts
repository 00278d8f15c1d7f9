import type { ResponsesRequest } from "../../../schemas/requests.ts";
import { responsesDialect } from "../dialects/responses/dialect.ts";
import { withItemIds } from "../dialects/responses/load_items.ts";
import { RESPONSES_NAMES } from "../dialects/responses/read_request.ts";
import { inClientTerms, type JsonFields } from "../dialects/translated.ts";
import { accountOf, type BodyEndpoint, type HttpContext } from "../exchange.ts";
import { answerChat, type ChatEndpointDeps, chatModel } from "./answer_chat.ts";
import { answerOnce } from "./answer_once.ts";
import { createBackgroundResponse } from "./create_background_response.ts";
import { type ResponsesDeps, translateResponse } from "./stored_responses.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** POST /v1/responses */
export function createResponse(
  deps: ChatEndpointDeps & ResponsesDeps & TaskEndpointDeps,
): BodyEndpoint<ResponsesRequest> {
  const createInBackground = createBackgroundResponse(deps);
  const createAtOnce = createResponseAtOnce(deps);
  return function createResponse(c, body) {
    return body.background === true ? createInBackground(c, body) : createAtOnce(c, body);
  };
}

function createResponseAtOnce(
  deps: ChatEndpointDeps & ResponsesDeps,
): BodyEndpoint<ResponsesRequest> {
  return answerOnce(deps, async function createResponseAtOnce(c, body, claim) {
    const model = chatModel(c, body.model);
    const { translated, input } = await translateResponse(deps, c, model, body);
    const { request, declared, ignored, paths } = translated;
    const save = body.store === false ? undefined : saveTo(deps, c, input);
    const dialect = responsesDialect({ body, declared, box: deps.responses.box, save });
    try {
      return await answerChat(c, deps, { model, request, dialect, ignored, claim });
    } catch (error) {
      throw inClientTerms(error, paths, RESPONSES_NAMES);
    }
  });
}

/** The answer is paid for and reaches the client also where it cannot be kept: only a later request misses it. */
function saveTo(
  { responses: { store, log } }: ResponsesDeps,
  c: HttpContext,
  input: readonly JsonFields[],
): (response: JsonFields) => Promise<void> {
  const { requestId } = c.env;
  const account = accountOf(c).id;
  return async function saveResponse(response) {
    const { id, previous_response_id: previous } = response as {
      id: string;
      previous_response_id: string | null;
    };
    try {
      const record = { response, input: withItemIds(id, input) };
      await store.save({ id, account, previous, body: JSON.stringify(record) });
    } catch (error) {
      log.error("response not stored", { request_id: requestId, error });
    }
  };
}

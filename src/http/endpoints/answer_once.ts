import {
  AnswerClaim,
  type IdempotentAnswers,
  type KeptAnswer,
} from "../../domain/idempotency/answers.ts";
import { identifyRequest } from "../../domain/idempotency/key.ts";
import { accountOf, type BodyEndpoint, type HttpContext, sendJson } from "../exchange.ts";
import { STREAM_HEADERS } from "./stream_headers.ts";

export interface AnswersDeps {
  answers: IdempotentAnswers;
}

/** An endpoint that is told whether its answer is to be kept: by the claim, which it ends. */
export type ClaimingEndpoint<Body> = (
  c: HttpContext,
  body: Body,
  claim: AnswerClaim | null,
) => Promise<Response>;

/** A repeated request with the same `Idempotency-Key` gets the first answer again. */
export function answerOnce<Body>(
  { answers }: AnswersDeps,
  endpoint: ClaimingEndpoint<Body>,
): BodyEndpoint<Body> {
  return function answerOnce(c, body) {
    const key = c.req.header("idempotency-key");
    return key === undefined ? endpoint(c, body, null) : answerByKey(answers, endpoint, c, body);
  };
}

async function answerByKey<Body>(
  answers: IdempotentAnswers,
  endpoint: ClaimingEndpoint<Body>,
  c: HttpContext,
  body: Body,
): Promise<Response> {
  const key = c.req.header("idempotency-key") ?? null;
  const identity = identifyRequest(key, c.env.path, body)!;
  const claim = await answers.claim(accountOf(c).id, identity, c.env.requestId);
  if (!(claim instanceof AnswerClaim)) return replay(c, claim);
  try {
    return await endpoint(c, body, claim);
  } catch (error) {
    await claim.release();
    throw error;
  }
}

function replay(c: HttpContext, { body, isStream }: KeptAnswer): Response {
  // Clients of the Messages API read the id of a request from its own header.
  const headers = { "idempotent-replayed": "true", "request-id": c.env.requestId };
  return isStream
    ? new Response(body, { headers: { ...STREAM_HEADERS, ...headers } })
    : sendJson(body, 200, headers);
}

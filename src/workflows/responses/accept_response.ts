import { requirePrice } from "../../domain/pricing/find_price.ts";
import type { ResponseStore } from "../../domain/responses/response_store.ts";
import type { Ledger } from "../../domain/ledger/ledger.ts";
import type { Model } from "../../platform/config/config.ts";
import type { PublicHosts } from "../../platform/outbound/public_hosts.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { holdCovered } from "../chat/hold_chat.ts";
import { prepareChat } from "../chat/prepare_chat.ts";
import type { TokenRate } from "../chat/reserve_tokens.ts";
import { type GenerationCall, newTaskOf } from "../tasks/accept_generation.ts";
import type { CreatedTask, TaskCreation } from "../tasks/create_task.ts";
import { responseIdOf } from "../tasks/response_of_task.ts";
import type { NewBackgroundResponse } from "./background_response.ts";
import type { ResponseJob } from "./response_job.ts";

export interface AcceptDeps {
  upstreams: Upstreams;
  ledger: Pick<Ledger, "funds">;
  imageHosts: Pick<PublicHosts, "check">;
  creation: TaskCreation;
  store: ResponseStore;
}

export interface BackgroundCall extends GenerationCall {
  readonly tokenRate: TokenRate;
}

/**
 * Accepts a request for a response in the background: checks and quotes it as a chat, and stores it as a task with its
 * hold and its response in one transaction.
 */
export async function acceptResponse(
  { upstreams, ledger, imageHosts, creation, store }: AcceptDeps,
  call: BackgroundCall,
  model: Model,
  asked: NewBackgroundResponse,
): Promise<CreatedTask> {
  const { config, account, tokenRate } = call;
  const price = requirePrice(config, account, model.id);
  const request = asStream(asked.request, model);
  const prepared = prepareChat({ upstreams, config, model, price }, request);
  if (prepared.linkedImages !== null) await imageHosts.check(prepared.linkedImages);
  const job: ResponseJob = {
    token_rate: { api_key: tokenRate.apiKey, per_minute: tokenRate.perMinute },
  };
  const { placed } = await holdCovered(
    ledger,
    { config, account, model, price, prepared },
    (quote, { limit }) =>
      creation.create({
        ...newTaskOf(call, model),
        job,
        quote,
        response: store.toRow({
          id: responseIdOf(call.requestId),
          previous: asked.previous,
          body: asked.toRecord({ ...request, max_completion_tokens: limit }),
        }),
      }),
  );
  return placed;
}

/** An answer may take many minutes: a stream shows that the upstream still works on it. */
function asStream(request: ChatRequest, { capabilities }: Model): ChatRequest {
  const { stream: _, ...rest } = request;
  return (capabilities.has("streaming") ? { ...rest, stream: true } : rest) as ChatRequest;
}

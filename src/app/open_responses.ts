import { IdempotentAnswers } from "../domain/idempotency/answers.ts";
import type { Limiter } from "../domain/limits/limiter.ts";
import { ResponseStore } from "../domain/responses/response_store.ts";
import { openSecretBox } from "../platform/secrets/secret_box.ts";
import { openBackground } from "../http/dialects/responses/background.ts";
import { openReasoningBox } from "../http/dialects/responses/reasoning_box.ts";
import type { AnswersDeps } from "../http/endpoints/answer_once.ts";
import type { ResponsesDeps } from "../http/endpoints/stored_responses.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { ThinkingSeals } from "../upstream/thinking_seals.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { RESPONSE_SLOTS, responseTaskHandler } from "../workflows/responses/run_response.ts";
import { LongStepSlots } from "../workflows/tasks/long_step_slots.ts";
import type { TaskHandler } from "../workflows/tasks/task_worker.ts";
import type { GatewayOptions } from "./gateway.ts";

interface Deps {
  database: Database;
  seals: ThinkingSeals;
  log: Log;
}

/** Stored responses, and answers that repeated requests get again. */
export function openResponses(
  { database: { sql }, seals, log }: Deps,
  { secretsKeys, timing }: Pick<GatewayOptions, "secretsKeys" | "timing">,
): ResponsesDeps & AnswersDeps {
  const store = new ResponseStore(sql, openSecretBox(secretsKeys, "stored responses"));
  const box = openSecretBox(secretsKeys, "idempotent answers");
  return {
    responses: { store, box: openReasoningBox(seals), log },
    answers: new IdempotentAnswers(sql, box, log, timing?.answers),
  };
}

interface BackgroundDeps extends ResponsesDeps {
  upstreams: Upstreams;
  limiter: Limiter;
}

/** Makes responses in the background. */
export function backgroundHandler(
  { responses: { store, box }, upstreams, limiter }: BackgroundDeps,
): TaskHandler {
  const slots = new LongStepSlots(RESPONSE_SLOTS);
  return responseTaskHandler({ upstreams, limiter, store, open: openBackground(box), slots });
}

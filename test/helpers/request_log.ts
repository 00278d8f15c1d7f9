import { readRows } from "./read_rows.ts";
import { newId } from "../../src/lib/ids.ts";
import { OpenRequest } from "../../src/domain/requests/open_request.ts";
import {
  RequestLog,
  type RequestLogLimits,
  type RequestLogOptions,
} from "../../src/domain/requests/request_log.ts";

type Loss = Parameters<RequestLogOptions["onDrop"]>[0];

/** A log that writes to an array. */
export function openLogToArray(limits: Partial<RequestLogLimits> = {}) {
  const batches: { id: string; at: number }[][] = [];
  const repeated: boolean[] = [];
  let statements = 0;
  const losses: Loss[] = [];
  /** Statements fail with `error`, and wait for `gate`. */
  const state: { error: Error | null; gate: Promise<void> | null } = { error: null, gate: null };
  const log = new RequestLog({
    async write({ rows, isRepeated }) {
      statements++;
      await state.gate;
      if (state.error !== null) throw state.error;
      batches.push(readRows(rows).map(([id, at]) => ({ id: id!, at: Date.parse(at!) })));
      repeated.push(isRepeated);
    },
    onDrop: (loss) => losses.push(loss),
    limits: { gatherMs: 20, closeMs: 100, ...limits },
  });
  return {
    log,
    batches,
    repeated,
    losses,
    state,
    /** A request that has ended; its id. */
    add(more: Partial<OpenRequest> = {}): string {
      const id = newId("req");
      const start = { requestId: id, startedAt: 0, method: "GET", clientRequestId: null };
      const request = new OpenRequest(log, start, { account: "acc_1", key: "key_1" }, "usage");
      Object.assign(request, more).respond(200, null, 1);
      return id;
    },
    /** Statements so far, failed ones too. */
    statements: () => statements,
    written: () => batches.flat().map(({ id }) => id),
    sizes: () => batches.map(({ length }) => length),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

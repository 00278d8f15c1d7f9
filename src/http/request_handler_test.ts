import assert from "node:assert/strict";
import { noLog } from "../../test/helpers/logs.ts";
import { RequestBodies } from "../domain/limits/request_bodies.ts";
import { nextTurn } from "../lib/next_turn.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import { openMetrics } from "../platform/telemetry/metrics.ts";
import { RequestHandler } from "./request_handler.ts";

Deno.test("requests that arrive in one turn begin together in the next, and count as running before", async () => {
  const begun: string[] = [];
  using bodies = new RequestBodies();
  const handler = new RequestHandler({
    configStore: { current: {} } as ConfigStore,
    log: noLog,
    metrics: openMetrics({ version: () => "1" }),
    tracer: null,
    readiness: () => Promise.resolve({}),
    bodies,
    onRequest: (_id, _method, path) => begun.push(path),
  });
  const ask = (path: string) =>
    handler.handle(new Request(`http://x${path}`), {} as Deno.ServeHandlerInfo);
  const responses = [ask("/healthz"), ask("/healthz?second")];
  await Promise.resolve();
  assert.deepEqual([begun, handler.inFlight], [[], 2]);
  await nextTurn();
  assert.deepEqual(begun, ["/healthz", "/healthz"]);
  assert.deepEqual((await Promise.all(responses)).map(({ status }) => status), [200, 200]);
  assert.equal(handler.inFlight, 0);
});

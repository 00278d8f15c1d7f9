import type {
  NewWebhookEndpoint,
  WebhookRedelivery,
  WebhookRotation,
} from "../../../schemas/requests.ts";
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  findEndpoint,
  listEndpoints,
} from "../../domain/webhooks/endpoints.ts";
import { changeEndpoint, registerEndpoint } from "../../domain/webhooks/register_endpoint.ts";
import { redeliverToEndpoint, sendTest } from "../../domain/webhooks/redeliver.ts";
import { revealSecret, rotateSecret, type SecretOwner } from "../../domain/webhooks/secrets.ts";
import type { Webhooks } from "../../domain/webhooks/webhooks.ts";
import {
  accountOf,
  type BodyEndpoint,
  type Endpoint,
  type HttpContext,
  sendJson,
} from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";

/** In place of an endpoint's id: the account's default secret, which signs events sent to a callback_url. */
const DEFAULT = "default";

interface WebhookDeps {
  webhooks: Webhooks;
}

/** What an action on one webhook endpoint of the calling account needs to know. */
interface Action {
  readonly webhooks: Webhooks;
  readonly account: string;
  readonly id: string;
  readonly c: HttpContext;
}

/** Responds with what the action returns, which may be a secret. */
async function respond(
  { webhooks }: WebhookDeps,
  c: HttpContext,
  act: (action: Action) => Promise<unknown>,
  status: number,
): Promise<Response> {
  const action = { webhooks, account: accountOf(c).id, id: c.req.param("id") ?? "", c };
  const text = JSON.stringify(await act(action));
  return sendJson(text, status, { "cache-control": "no-store" });
}

const respondWith =
  (act: (action: Action) => Promise<unknown>, status = 200) =>
  (deps: WebhookDeps): Endpoint =>
  (c) => respond(deps, c, act, status);

const respondToBody =
  <Body>(act: (action: Action, body: Body) => Promise<unknown>, status = 200) =>
  (deps: WebhookDeps): BodyEndpoint<Body> =>
  (c, body) => respond(deps, c, (action) => act(action, body), status);

/** GET /v1/webhook_endpoints */
export function listWebhookEndpoints({ webhooks: { sql } }: WebhookDeps): Endpoint {
  return async function listWebhookEndpoints(c) {
    const { data, hasMore } = await listEndpoints(sql, accountOf(c).id, readPage(c));
    return sendJsonPage(data, hasMore);
  };
}

/** POST /v1/webhook_endpoints */
export const createWebhookEndpoint = respondToBody<NewWebhookEndpoint>(
  async ({ webhooks, account, c }, fields) => {
    const { sql, secretBox } = webhooks;
    const endpoint = await registerEndpoint(webhooks, c.env.config.outbound, account, fields);
    const { secret } = await revealSecret(sql, secretBox, { account, endpoint: endpoint.id });
    return { ...endpoint, secret };
  },
  201,
);

/** GET /v1/webhook_endpoints/{id} */
export const retrieveWebhookEndpoint = respondWith(({ webhooks: { sql }, account, id }) =>
  findEndpoint(sql, account, id)
);

/** POST /v1/webhook_endpoints/{id} */
export const updateWebhookEndpoint = respondToBody<Partial<NewWebhookEndpoint>>(
  ({ webhooks, account, id, c }, fields) =>
    changeEndpoint(webhooks, c.env.config.outbound, { account, id }, fields),
);

/** DELETE /v1/webhook_endpoints/{id} */
export const deleteWebhookEndpoint = respondWith(async ({ webhooks: { sql }, account, id }) => {
  await deleteEndpoint(sql, account, id);
  return { id, object: "webhook_endpoint", deleted: true };
});

/** POST /v1/webhook_endpoints/{id}/enable */
export const enableWebhookEndpoint = respondWith(({ webhooks: { sql }, account, id }) =>
  enableEndpoint(sql, account, id)
);

/** POST /v1/webhook_endpoints/{id}/disable */
export const disableWebhookEndpoint = respondWith(({ webhooks: { sql }, account, id }) =>
  disableEndpoint(sql, account, id)
);

/** POST /v1/webhook_endpoints/{id}/test */
export const testWebhookEndpoint = respondWith(
  ({ webhooks, account, id }) => sendTest(webhooks, account, id),
  202,
);

/** GET /v1/webhook_endpoints/{id}/secret */
export const retrieveWebhookSecret = respondWith(async ({ webhooks, account, id }) =>
  await revealSecret(webhooks.sql, webhooks.secretBox, await ownerOf(webhooks, account, id))
);

/** POST /v1/webhook_endpoints/{id}/rotate_secret */
export const rotateWebhookSecret = respondToBody<WebhookRotation>(
  async ({ webhooks, account, id }, { overlap_seconds }) => {
    const owner = await ownerOf(webhooks, account, id);
    return await webhooks.begin((sql) =>
      rotateSecret(sql, webhooks.secretBox, owner, overlap_seconds)
    );
  },
);

/** POST /v1/webhook_endpoints/{id}/redeliver */
export const redeliverWebhooks = respondToBody<WebhookRedelivery>(
  async ({ webhooks, account, id }, body) => {
    const since = new Date(body.since);
    const count = await redeliverToEndpoint(webhooks, { account, endpoint: id, since });
    return { object: "webhook_redelivery", endpoint: id, since: since.toISOString(), count };
  },
  202,
);

async function ownerOf({ sql }: Webhooks, account: string, id: string): Promise<SecretOwner> {
  if (id === DEFAULT) return { account, endpoint: null };
  return { account, endpoint: (await findEndpoint(sql, account, id)).id };
}

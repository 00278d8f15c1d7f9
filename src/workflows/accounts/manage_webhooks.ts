import { type AuditedChange, differenceOf } from "../../domain/audit/audit.ts";
import type { WebhookDelivery } from "../../domain/webhooks/deliveries.ts";
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  type EndpointFields,
  findEndpoint,
  updateEndpoint,
  type WebhookEndpoint,
} from "../../domain/webhooks/endpoints.ts";
import {
  redeliver,
  redeliverFailed,
  redeliverToEndpoint,
  sendTest,
} from "../../domain/webhooks/redeliver.ts";
import { rotateSecret, type SecretOwner } from "../../domain/webhooks/secrets.ts";
import type { Webhooks } from "../../domain/webhooks/webhooks.ts";

/** An endpoint of an account. */
interface OwnEndpoint {
  account: string;
  id: string;
}

/** The webhooks of a change: their statements are part of it, and the queue hears of deliveries once they exist. */
function webhooksOf({ sql, afterCommit }: AuditedChange, webhooks: Webhooks): Webhooks {
  return {
    sql,
    // It is a transaction already.
    begin: (run) => run(sql),
    secretBox: webhooks.secretBox,
    notify: (message) => afterCommit(() => webhooks.notify(message)),
  };
}

/** Creates an endpoint. The URL has been checked. */
export async function addEndpoint(
  { sql, audit }: AuditedChange,
  { secretBox }: Webhooks,
  account: string,
  fields: EndpointFields,
): Promise<WebhookEndpoint> {
  const endpoint = await createEndpoint(sql, secretBox, account, fields);
  await audit({ action: "webhook.create", account, subject: endpoint.id, after: endpoint });
  return endpoint;
}

/** Changes the given fields of an endpoint. The URL has been checked. */
export async function editEndpoint(
  { sql, audit }: AuditedChange,
  { account, id }: OwnEndpoint,
  fields: Partial<EndpointFields>,
): Promise<void> {
  const before = await findEndpoint(sql, account, id);
  const after = await updateEndpoint(sql, account, id, fields);
  const difference = differenceOf(before, after);
  await audit({ action: "webhook.update", account, subject: id, ...difference });
}

/** Enables, disables or deletes an endpoint. */
export async function switchEndpoint(
  { sql, audit }: AuditedChange,
  { account, id }: OwnEndpoint,
  to: "enable" | "disable" | "delete",
): Promise<void> {
  const before = await findEndpoint(sql, account, id);
  if (to === "enable") await enableEndpoint(sql, account, id);
  else if (to === "disable") await disableEndpoint(sql, account, id);
  else await deleteEndpoint(sql, account, id);
  const after = to === "delete" ? null : await findEndpoint(sql, account, id);
  await audit({
    action: `webhook.${to}`,
    account,
    subject: id,
    ...(after === null ? { before } : differenceOf(before, after)),
  });
}

/** Replaces the secret that signs events. */
export async function replaceSecret(
  { sql, audit }: AuditedChange,
  { secretBox }: Webhooks,
  owner: SecretOwner,
  overlapSeconds: number | undefined,
): Promise<void> {
  await rotateSecret(sql, secretBox, owner, overlapSeconds);
  const { account, endpoint } = owner;
  await audit({ action: "webhook.rotate_secret", account, subject: endpoint });
}

/** Sends a test event. */
export async function testEndpoint(
  change: AuditedChange,
  webhooks: Webhooks,
  { account, id }: OwnEndpoint,
): Promise<WebhookDelivery> {
  const delivery = await sendTest(webhooksOf(change, webhooks), account, id);
  await change.audit({ action: "webhook.test", account, subject: id });
  return delivery;
}

/** Sends an event again. The operator leaves out `account`. */
export async function repeatDelivery(
  change: AuditedChange,
  webhooks: Webhooks,
  { account, id }: { account?: string; id: string },
): Promise<WebhookDelivery> {
  const delivery = await redeliver(webhooksOf(change, webhooks), id, account);
  await change.audit({ action: "webhook.redeliver", account: account ?? null, subject: id });
  return delivery;
}

/** Sends again all deliveries that failed since a time: of all accounts, or of one, or of one endpoint. */
export async function repeatFailed(
  change: AuditedChange,
  webhooks: Webhooks,
  failed: { account?: string; endpoint?: string; since: Date },
): Promise<number> {
  const count = await redeliverFailed(webhooksOf(change, webhooks), failed);
  await auditRepeated(change, failed, count);
  return count;
}

/** The same for an endpoint of an account; not while it is disabled. */
export async function repeatToEndpoint(
  change: AuditedChange,
  webhooks: Webhooks,
  wanted: { account: string; endpoint: string; since: Date },
): Promise<number> {
  const count = await redeliverToEndpoint(webhooksOf(change, webhooks), wanted);
  await auditRepeated(change, wanted, count);
  return count;
}

async function auditRepeated(
  { audit }: AuditedChange,
  { account = null, endpoint = null, since }: {
    account?: string | null;
    endpoint?: string | null;
    since: Date;
  },
  count: number,
): Promise<void> {
  const after = { since, count };
  await audit({ action: "webhook.redeliver", account, subject: endpoint, after });
}

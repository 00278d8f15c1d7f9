import { checkUrlResolves, type OutboundPolicy } from "../../platform/outbound/check_url.ts";
import {
  createEndpoint,
  type EndpointFields,
  updateEndpoint,
  type WebhookEndpoint,
} from "./endpoints.ts";
import type { Webhooks } from "./webhooks.ts";

/** Creates an endpoint whose URL an account may name. */
export async function registerEndpoint(
  { sql, secretBox }: Pick<Webhooks, "sql" | "secretBox">,
  policy: OutboundPolicy,
  account: string,
  fields: EndpointFields,
): Promise<WebhookEndpoint> {
  await checkUrlResolves(fields.url, policy, "url");
  return await createEndpoint(sql, secretBox, account, fields);
}

/** Changes the fields that are given. */
export async function changeEndpoint(
  { sql }: Pick<Webhooks, "sql">,
  policy: OutboundPolicy,
  { account, id }: { account: string; id: string },
  fields: Partial<EndpointFields>,
): Promise<WebhookEndpoint> {
  if (fields.url !== undefined) await checkUrlResolves(fields.url, policy, "url");
  return await updateEndpoint(sql, account, id, fields);
}

import rotation from "../../../schemas/requests/webhook_rotate_secret.schema.json" with {
  type: "json",
};
import { newId } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { SecretBox } from "../../platform/secrets/types.ts";
import { newWebhookSecret } from "./sign.ts";

/** Owner of a secret: an endpoint, or (null) the account, whose secret signs events to a callback_url. */
export interface SecretOwner {
  account: string;
  endpoint: string | null;
}

export interface WebhookSecret {
  object: "webhook_secret";
  secret: string;
  created: number;
  /** Earlier secrets that still sign, newest first. */
  previous: { secret: string; expires_at: string }[];
}

interface Row {
  id: string;
  secret: string;
  created_at: Date;
  expires_at: Date | null;
}

/** How long the previous secret still signs after a rotation, unless the request says otherwise. */
export const OVERLAP_SECONDS = rotation.properties.overlap_seconds.default;
/** Limited because each secret signs every attempt. */
const PREVIOUS_MAX = 4;

/** Creates the first secret of an owner; does nothing if there is one. */
export async function makeSecret(
  sql: Queries,
  secretBox: SecretBox,
  owner: SecretOwner,
): Promise<void> {
  const row = newRow(secretBox, owner);
  await sql`insert into webhook_secret ${sql(row)} on conflict do nothing`;
}

/** The secrets that sign now. The secret of an account is created when it is first needed. */
export async function revealSecret(
  sql: Queries,
  secretBox: SecretBox,
  owner: SecretOwner,
): Promise<WebhookSecret> {
  const rows = await readSecrets(sql, owner);
  if (rows.length > 0) return toSecret(rows, secretBox);
  await makeSecret(sql, secretBox, owner);
  return toSecret(await readSecrets(sql, owner), secretBox);
}

/**
 * Creates a new secret. The previous one also signs for a while, so that a receiver can change without losing events.
 * `overlapSeconds: 0` for a secret that leaked. In a transaction of the caller: when the result cannot be shown, because
 * a key is missing, nothing has changed.
 */
export async function rotateSecret(
  sql: Queries,
  secretBox: SecretBox,
  owner: SecretOwner,
  overlapSeconds: number = OVERLAP_SECONDS,
): Promise<WebhookSecret> {
  await replaceSecret(sql, newRow(secretBox, owner), overlapSeconds);
  return toSecret(await readSecrets(sql, owner), secretBox);
}

/**
 * The insert reads from the update so that it comes after it. Of two rotations at once one wins, and both callers
 * are shown its secret.
 */
async function replaceSecret(
  sql: Queries,
  { id, account_id: account, endpoint_id: endpoint, secret }: ReturnType<typeof newRow>,
  overlapSeconds: number,
): Promise<void> {
  await sql`
    with ended as (
      update webhook_secret set expires_at = now() + make_interval(secs => ${overlapSeconds})
       where account_id = ${account} and endpoint_id is not distinct from ${endpoint}
         and expires_at is null
      returning id)
    insert into webhook_secret (id, account_id, endpoint_id, secret)
    select ${id}, ${account}, ${endpoint}, ${secret} from (select count(*) from ended) as rotated
    on conflict do nothing`;
}

async function readSecrets(sql: Queries, { account, endpoint }: SecretOwner): Promise<Row[]> {
  return await sql<Row[]>`
    select id, secret, created_at, expires_at from webhook_secret
     where account_id = ${account} and endpoint_id is not distinct from ${endpoint}
       and (expires_at is null or expires_at > now())
     order by expires_at desc nulls first, id desc limit ${PREVIOUS_MAX + 1}`;
}

function newRow(secretBox: SecretBox, { account, endpoint }: SecretOwner) {
  const id = newId("whs");
  return {
    id,
    account_id: account,
    endpoint_id: endpoint,
    secret: secretBox.seal(newWebhookSecret(), id),
  };
}

function toSecret([current, ...previous]: Row[], secretBox: SecretBox): WebhookSecret {
  return {
    object: "webhook_secret",
    secret: secretBox.unseal(current!.secret, current!.id),
    created: Math.floor(current!.created_at.getTime() / 1000),
    previous: previous.map(({ id, secret, expires_at }) => ({
      secret: secretBox.unseal(secret, id),
      expires_at: expires_at!.toISOString(),
    })),
  };
}

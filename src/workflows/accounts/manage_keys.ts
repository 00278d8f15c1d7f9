import {
  type AdminToken,
  createAdminToken,
  type NewAdminToken,
  revokeAdminToken,
} from "../../domain/accounts/admin_tokens.ts";
import {
  type ApiKey,
  createKey,
  findKey,
  type KeyOptions,
  revokeKey,
  updateKey,
} from "../../domain/accounts/api_keys.ts";
import type { KeyRestrictions } from "../../domain/accounts/key_restrictions.ts";
import { type AuditedChange, differenceOf } from "../../domain/audit/audit.ts";

/** Creates an API key. The key itself is in the result and nowhere else. */
export async function issueKey(
  { sql, audit }: AuditedChange,
  { account, name, ...options }: { account: string; name: string } & KeyOptions,
): Promise<ApiKey & { key: string }> {
  const created = await createKey(sql, account, name, options);
  const { spend: _, ...after } = created;
  await audit({ action: "key.create", account, subject: created.id, after });
  return created;
}

/** Changes the name and the restrictions of an API key, on every node. */
export async function changeKey(
  change: AuditedChange,
  id: string,
  fields: Partial<KeyRestrictions> & { name?: string | undefined },
): Promise<ApiKey> {
  const { spend: _, ...before } = await findKey(change.sql, id);
  const changed = await updateKey(change, id, fields);
  const { spend: _spend, ...after } = changed;
  await change.audit({
    action: "key.update",
    account: after.account,
    subject: id,
    ...differenceOf(before, after),
  });
  return changed;
}

/** Revokes an API key on every node. */
export async function withdrawKey(change: AuditedChange, id: string): Promise<ApiKey> {
  const key = await revokeKey(change, id);
  const { account, name, last4 } = key;
  await change.audit({ action: "key.revoke", account, subject: id, before: { name, last4 } });
  return key;
}

/** Creates an admin token. The token itself is in the result and nowhere else. */
export async function issueAdminToken(
  { sql, audit }: AuditedChange,
  fields: NewAdminToken,
): Promise<AdminToken & { token: string }> {
  const created = await createAdminToken(sql, fields);
  await audit({ action: "admin_token.create", subject: created.id, after: created });
  return created;
}

/** Revokes an admin token. */
export async function withdrawAdminToken(
  { sql, audit }: AuditedChange,
  id: string,
): Promise<AdminToken> {
  const token = await revokeAdminToken(sql, id);
  const { name, scopes, last4 } = token;
  await audit({ action: "admin_token.revoke", subject: id, before: { name, scopes, last4 } });
  return token;
}

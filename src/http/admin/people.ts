import type { Passwords } from "../../domain/accounts/passwords.ts";
import { findByEmail, type Person, readEmail, setOperator } from "../../domain/accounts/people.ts";
import { resetPerson } from "../../domain/accounts/reset_person.ts";
import type { Sessions } from "../../domain/accounts/sessions.ts";
import { newSecret } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database } from "../../platform/database/database.ts";
import { removeReceivers } from "../../domain/webhooks/endpoints.ts";
import { bodySchema } from "../body_schema.ts";
import { type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import schema from "../../../schemas/requests/admin_people.schema.json" with { type: "json" };

export interface PeopleDeps {
  database: Database;
  cluster: Cluster;
  sessions: Sessions;
  passwords: Passwords;
}

const personChange = bodySchema<{ operator: boolean }>(schema);

/** GET /admin/v1/people/{email} */
export function retrievePerson({ database }: PeopleDeps): Endpoint {
  return async function retrievePerson(c) {
    return sendJson(JSON.stringify(toPersonJson(await find(database, c))));
  };
}

/** PUT /admin/v1/people/{email}: grants or revokes the operator role. */
export function updatePerson({ database }: PeopleDeps): Endpoint {
  return async function updatePerson(c) {
    const { operator } = personChange(await readJson(c));
    const { email } = await find(database, c);
    return sendJson(JSON.stringify(toPersonJson(await setOperator(database.sql, email, operator))));
  };
}

/**
 * POST /admin/v1/people/{email}/password: sets a new password and returns it once. The response lists what was
 * removed from the account.
 */
export function resetPassword(deps: PeopleDeps): Endpoint {
  const { database, sessions, passwords } = deps;
  return async function resetPassword(c) {
    const { id } = await find(database, c);
    const password = newSecret().slice(0, 20);
    const removed = await resetPerson(deps, id, await passwords.hash(password), removeReceivers);
    const ended = await sessions.endAll(id);
    const person = await find(database, c);
    const answer = { ...toPersonJson(person), password, removed: { ...removed, sessions: ended } };
    return sendJson(JSON.stringify(answer), 200, {
      "cache-control": "no-store",
    });
  };
}

async function find(database: Database, c: HttpContext): Promise<Person> {
  const email = c.req.param("email") ?? "";
  const found = await findByEmail(database.sql, readEmail(email) ?? "");
  if (found === null) {
    throw new ApiError("not_found", `No person is registered as ${JSON.stringify(email)}.`);
  }
  return found.person;
}

function toPersonJson(person: Person) {
  return {
    id: person.id,
    object: "person",
    account: person.account,
    email: person.email,
    name: person.name,
    operator: person.isOperator,
    email_verified: person.emailVerifiedAt === null
      ? null
      : Math.floor(person.emailVerifiedAt.getTime() / 1000),
    created: Math.floor(person.createdAt.getTime() / 1000),
  };
}

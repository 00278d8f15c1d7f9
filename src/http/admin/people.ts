import type { PersonChange } from "../../../schemas/requests.ts";
import type { Passwords } from "../../domain/accounts/passwords.ts";
import { findByEmail, type Person, readEmail, setOperator } from "../../domain/accounts/people.ts";
import { resetPerson } from "../../domain/accounts/reset_person.ts";
import type { Sessions } from "../../domain/accounts/sessions.ts";
import { newSecret } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database } from "../../platform/database/database.ts";
import { removeEndpointsOf } from "../../domain/webhooks/endpoints.ts";
import { requireScope } from "./require_token.ts";
import { type BodyEndpoint, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";

export interface PeopleDeps {
  database: Database;
  cluster: Cluster;
  sessions: Sessions;
  passwords: Passwords;
}

/** GET /admin/v1/people/{email} */
export function retrievePerson({ database }: PeopleDeps): Endpoint {
  return async function retrievePerson(c) {
    return sendJson(JSON.stringify(toPersonJson(await find(database, c))));
  };
}

/** PUT /admin/v1/people/{email}: grants or revokes the operator role. */
export function updatePerson({ database }: PeopleDeps): BodyEndpoint<PersonChange> {
  return async function updatePerson(c, { operator }) {
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
    const { id, isOperator } = await find(database, c);
    // With the password of an operator, a token of one scope would have them all.
    if (isOperator) requireScope(c, "root");
    const password = newSecret().slice(0, 20);
    const removed = await resetPerson(deps, id, await passwords.hash(password), removeEndpointsOf);
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

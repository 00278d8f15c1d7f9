import type { PersonChange } from "../../../schemas/requests.ts";
import type { Passwords } from "../../domain/accounts/passwords.ts";
import { findByEmail, type Person, readEmail } from "../../domain/accounts/people.ts";
import { audited } from "../../domain/audit/audit.ts";
import type { Sessions } from "../../domain/accounts/sessions.ts";
import { newSecret } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database } from "../../platform/database/database.ts";
import { resetAccess, setOperatorRole } from "../../workflows/accounts/manage_people.ts";
import { actorOf } from "./actor.ts";
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
export function updatePerson(deps: PeopleDeps): BodyEndpoint<PersonChange> {
  return async function updatePerson(c, { operator }) {
    const before = await find(deps.database, c);
    const person = await audited(
      deps,
      actorOf(c),
      (change) => setOperatorRole(change, before, operator),
    );
    return sendJson(JSON.stringify(toPersonJson(person)));
  };
}

/**
 * POST /admin/v1/people/{email}/password: sets a new password and returns it once. The response lists what was
 * removed from the account.
 */
export function resetPassword(deps: PeopleDeps): Endpoint {
  const { database, sessions, passwords } = deps;
  return async function resetPassword(c) {
    const before = await find(database, c);
    // With the password of an operator, a token of one scope would have them all.
    if (before.isOperator) requireScope(c, "root");
    const password = newSecret().slice(0, 20);
    const hash = await passwords.hash(password);
    const removed = await audited(
      deps,
      actorOf(c),
      (change) => resetAccess(change, before, hash),
    );
    const ended = await sessions.endAll(before.id);
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

import type { Passwords } from "../../accounts/passwords.ts";
import {
  findByEmail,
  type Person,
  readEmail,
  setOperator,
  setPassword,
} from "../../accounts/people.ts";
import type { Sessions } from "../../accounts/sessions.ts";
import { newSecret } from "../../base/ids.ts";
import { Refusal } from "../../base/refusal.ts";
import type { Database } from "../../store/database.ts";
import { bodySchema } from "../body_schema.ts";
import { type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import schema from "../../../schemas/requests/admin_people.schema.json" with { type: "json" };

export interface PeopleDeps {
  database: Database;
  sessions: Sessions;
  passwords: Passwords;
}

const personChange = bodySchema<{ operator: boolean }>(schema);

/** GET /admin/v1/people/{email} */
export function retrievePerson({ database }: PeopleDeps): Endpoint {
  return async function retrievePerson(c) {
    return sendJson(JSON.stringify(shown(await find(database, c))));
  };
}

/** PUT /admin/v1/people/{email}: makes somebody an operator, or no longer one. */
export function updatePerson({ database }: PeopleDeps): Endpoint {
  return async function updatePerson(c) {
    const { operator } = personChange(await readJson(c));
    const { email } = await find(database, c);
    return sendJson(JSON.stringify(shown(await setOperator(database.sql, email, operator))));
  };
}

/** POST /admin/v1/people/{email}/password: a new one, shown this once, for somebody who lost theirs. */
export function resetPassword({ database, sessions, passwords }: PeopleDeps): Endpoint {
  return async function resetPassword(c) {
    const person = await find(database, c);
    const password = newSecret().slice(0, 20);
    await setPassword(database.sql, person.id, await passwords.hash(password));
    await sessions.endAll(person.id);
    return sendJson(JSON.stringify({ ...shown(person), password }), 200, {
      "cache-control": "no-store",
    });
  };
}

async function find(database: Database, c: HttpContext): Promise<Person> {
  const email = c.req.param("email") ?? "";
  const found = await findByEmail(database.sql, readEmail(email) ?? "");
  if (found === null) {
    throw new Refusal("not_found", `Nobody has registered as ${JSON.stringify(email)}.`);
  }
  return found.person;
}

function shown(person: Person) {
  return {
    id: person.id,
    object: "person",
    account: person.account,
    email: person.email,
    name: person.name,
    operator: person.isOperator,
    created: Math.floor(person.createdAt.getTime() / 1000),
  };
}

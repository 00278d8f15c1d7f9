import { newId } from "../base/ids.ts";
import { Refusal } from "../base/refusal.ts";
import type { Queries } from "../store/database.ts";

/** Somebody who can sign in, and the account that is theirs. */
export interface Person {
  readonly id: string;
  readonly account: string;
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  readonly hasPassword: boolean;
  readonly createdAt: Date;
}

interface Row {
  id: string;
  account_id: string;
  email: string;
  name: string;
  password_hash: string | null;
  is_operator: boolean;
  created_at: Date;
}

export interface NewPerson {
  email: string;
  name: string;
  passwordHash: string | null;
}

/** Nothing that cannot be seen, either: two addresses that look alike shall be alike. */
const EMAIL = /^[^\s\p{C}@<>()",;:\\[\]]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/iu;

/** An address as it is kept and compared; null when it is none. */
export function readEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return EMAIL.test(email) && !email.includes("..") ? email : null;
}

/**
 * Makes a person and their account in one statement; null when the address is taken, by a person or by
 * an account of the operator's: whoever types an address has not shown that it is theirs.
 */
export async function createPerson(sql: Queries, person: NewPerson): Promise<Person | null> {
  const [row] = await sql<[Row?]>`
    with made as (
      insert into account (id, name, email)
      select ${newId("acc")}, ${person.name}, ${person.email}
       where not exists (select from person where email = ${person.email})
      on conflict ((lower(email))) where email is not null do nothing
      returning id)
    insert into person (id, account_id, email, name, password_hash)
    select ${newId("per")}, id, ${person.email}, ${person.name}, ${person.passwordHash} from made
    returning *`;
  return row === undefined ? null : shown(row);
}

export async function findPerson(sql: Queries, id: string): Promise<Person | null> {
  const [row] = await sql<[Row?]>`select * from person where id = ${id}`;
  return row === undefined ? null : shown(row);
}

/** A person by address, with what a password is compared with. */
export async function findByEmail(
  sql: Queries,
  email: string,
): Promise<{ person: Person; passwordHash: string | null } | null> {
  const [row] = await sql<[Row?]>`select * from person where email = ${email}`;
  return row === undefined ? null : { person: shown(row), passwordHash: row.password_hash };
}

export async function setPassword(sql: Queries, id: string, passwordHash: string): Promise<void> {
  await sql`update person set password_hash = ${passwordHash} where id = ${id}`;
}

/** The hash a password of theirs is compared with. */
export async function findPasswordHash(sql: Queries, id: string): Promise<string | null> {
  const [row] = await sql<[{ password_hash: string | null }?]>`
    select password_hash from person where id = ${id}`;
  return row?.password_hash ?? null;
}

/** A new name, for the person and for the account that goes by it. */
export async function renamePerson(sql: Queries, id: string, name: string): Promise<void> {
  await sql`
    with renamed as (update person set name = ${name} where id = ${id} returning account_id)
    update account set name = ${name} where id = (select account_id from renamed)`;
}

/** Marks or unmarks an operator. */
export async function setOperator(sql: Queries, email: string, is: boolean): Promise<Person> {
  const [row] = await sql<[Row?]>`
    update person set is_operator = ${is} where email = ${readEmail(email) ?? ""} returning *`;
  if (row === undefined) {
    throw new Refusal(
      "not_found",
      `Nobody has registered as ${JSON.stringify(email)}: they must do so first.`,
    );
  }
  return shown(row);
}

function shown(row: Row): Person {
  return {
    id: row.id,
    account: row.account_id,
    email: row.email,
    name: row.name,
    isOperator: row.is_operator,
    hasPassword: row.password_hash !== null,
    createdAt: row.created_at,
  };
}

import { newId } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";

/** A person who can sign in, and their account. */
export interface Person {
  readonly id: string;
  readonly account: string;
  readonly email: string;
  readonly name: string;
  /** The account is suspended: the person may sign in, and sees nothing. */
  readonly isSuspended: boolean;
  /** Marked as operator, and with a verified email. */
  readonly isOperator: boolean;
  /** Null: not verified. */
  readonly emailVerifiedAt: Date | null;
  /** A session is valid only with the same number. */
  readonly sessionEpoch: number;
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
  email_verified_at: Date | null;
  session_epoch: number;
  created_at: Date;
  suspended_at?: Date | null;
}

export interface NewPerson {
  email: string;
  name: string;
  passwordHash: string | null;
  /** A provider has verified the address. */
  isVerified?: boolean;
}

/** Invisible characters are rejected: two addresses that look the same must be the same. */
const EMAIL = /^[^\s\p{C}@<>()",;:\\[\]]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/iu;

/** An address as it is stored and compared; null if it is not an address. */
export function readEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return EMAIL.test(email) && !email.includes("..") ? email : null;
}

/**
 * Creates a person and their account in one statement; null if the address is taken, by a person or by
 * an account that the operator created: typing an address does not prove that one owns it.
 */
export async function createPerson(sql: Queries, person: NewPerson): Promise<Person | null> {
  const [row] = await sql<[Row?]>`
    with made as (
      insert into account (id, name, email)
      select ${newId("acc")}, ${person.name}, ${person.email}
       where not exists (select from person where email = ${person.email})
      on conflict ((lower(email))) where email is not null do nothing
      returning id)
    insert into person (id, account_id, email, name, password_hash, email_verified_at)
    select ${newId("per")}, id, ${person.email}, ${person.name}, ${person.passwordHash},
           case when ${person.isVerified ?? false} then now() end from made
    returning *`;
  return row === undefined ? null : toPerson(row);
}

/** A person who can sign in; null for one whose account is closed. */
export async function findPerson(sql: Queries, id: string): Promise<Person | null> {
  const [row] = await sql<[Row?]>`
    select p.*, a.suspended_at from person p join account a on a.id = p.account_id
     where p.id = ${id} and a.closed_at is null`;
  return row === undefined ? null : toPerson(row);
}

/** A person by address, with what a password is compared with. */
export async function findByEmail(
  sql: Queries,
  email: string,
): Promise<{ person: Person; passwordHash: string | null } | null> {
  const [row] = await sql<[Row?]>`
    select p.*, a.suspended_at from person p join account a on a.id = p.account_id
     where p.email = ${email} and a.closed_at is null`;
  return row === undefined ? null : { person: toPerson(row), passwordHash: row.password_hash };
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

/** Marks or unmarks an operator. Only a person whose address is verified becomes one. */
export async function setOperator(sql: Queries, email: string, is: boolean): Promise<Person> {
  const address = readEmail(email) ?? "";
  const [row] = await sql<[Row?]>`
    update person set is_operator = ${is}
     where email = ${address} and (not ${is}::boolean or email_verified_at is not null)
    returning *`;
  if (row !== undefined) return toPerson(row);
  if (await findByEmail(sql, address) === null) {
    throw new ApiError(
      "not_found",
      `No person is registered as ${JSON.stringify(email)}: they must register first.`,
    );
  }
  throw new ApiError(
    "invalid_value",
    `The address ${address} is not verified: any person could have registered it. Set a new password ` +
      "(gateway person password), give it to the owner of the address, and try again.",
    { param: "operator" },
  );
}

/** Marks the email as verified: an identity provider has verified it. */
export async function verifyAddress(sql: Queries, id: string, email: string): Promise<void> {
  await sql`
    update person set email_verified_at = now()
     where id = ${id} and email = ${email} and email_verified_at is null`;
}

/**
 * Throws unless the session that acts for this person is valid, and keeps it valid until the end of the
 * transaction: what a session adds to an account must not outlive a reset that ended the session.
 */
export async function mustStillBeSignedIn(sql: Queries, person: Person): Promise<void> {
  const [row] = await sql`
    select from person where id = ${person.id} and session_epoch = ${person.sessionEpoch} for share`;
  if (row === undefined) {
    throw new ApiError("invalid_value", "You have been signed out: sign in and try again.", {
      kind: "forbidden",
    });
  }
}

function toPerson(row: Row): Person {
  return {
    id: row.id,
    account: row.account_id,
    email: row.email,
    name: row.name,
    isSuspended: (row.suspended_at ?? null) !== null,
    isOperator: row.is_operator && row.email_verified_at !== null,
    emailVerifiedAt: row.email_verified_at,
    sessionEpoch: row.session_epoch,
    hasPassword: row.password_hash !== null,
    createdAt: row.created_at,
  };
}

import type { Queries } from "../../platform/database/database.ts";
import { createPerson, findPerson, type Person } from "./people.ts";

/** A person's identity at a provider, verified by the provider. */
export interface Identity {
  readonly provider: string;
  /** The provider's permanent id of the person; an email address may change. */
  readonly subject: string;
  /** Only an address that the provider has verified. */
  readonly email: string | null;
  readonly name: string | null;
}

export interface LinkedIdentity {
  readonly provider: string;
  readonly createdAt: Date;
}

export async function findByIdentity(
  sql: Queries,
  { provider, subject }: Identity,
): Promise<Person | null> {
  const [row] = await sql<[{ person_id: string }?]>`
    select person_id from person_identity where provider = ${provider} and subject = ${subject}`;
  return row === undefined ? null : await findPerson(sql, row.person_id);
}

/** Links an identity to a signed-in person; false if it belongs to another person. */
export async function linkIdentity(
  sql: Queries,
  person: string,
  { provider, subject }: Identity,
): Promise<boolean> {
  const [row] = await sql<[{ person_id: string }?]>`
    insert into person_identity as i (provider, subject, person_id)
    values (${provider}, ${subject}, ${person})
    on conflict (provider, subject) do update set person_id = i.person_id
    returning person_id`;
  return row?.person_id === person;
}

/**
 * Creates a person from an identity; null if the address belongs to an existing person. It is never linked to
 * them automatically: an address that changed its owner would open another person's account.
 */
export async function createFromIdentity(
  sql: Queries,
  identity: Identity & { email: string },
): Promise<Person | null> {
  const name = identity.name?.trim().slice(0, 200) || identity.email.split("@")[0]!;
  const person = await createPerson(sql, {
    email: identity.email,
    name,
    passwordHash: null,
    isVerified: true,
  });
  if (person !== null) await linkIdentity(sql, person.id, identity);
  return person;
}

export async function identitiesOf(sql: Queries, person: string): Promise<LinkedIdentity[]> {
  const rows = await sql<{ provider: string; created_at: Date }[]>`
    select provider, created_at from person_identity where person_id = ${person} order by provider`;
  return rows.map(({ provider, created_at }) => ({ provider, createdAt: created_at }));
}

/** Unlinks an identity, unless it is the person's only way to sign in. */
export async function unlinkIdentity(
  sql: Queries,
  person: string,
  provider: string,
): Promise<boolean> {
  const gone = await sql`
    delete from person_identity
     where person_id = ${person} and provider = ${provider}
       and (exists (select from person where id = ${person} and password_hash is not null)
         or exists (select from person_identity
                     where person_id = ${person} and provider <> ${provider}))`;
  return gone.count > 0;
}

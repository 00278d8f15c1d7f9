import type { Queries } from "../../platform/database/database.ts";
import { createPerson, findPerson, type Person } from "./people.ts";

/** Who somebody is at a provider, as the provider vouches for it. */
export interface Identity {
  readonly provider: string;
  /** The provider's own name for them, which never changes; an e-mail address may. */
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

/** Remembers who a signed-in person is elsewhere; false when that is somebody else here already. */
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
 * Makes a person from an identity; null when the address belongs to somebody here. It is never linked to
 * them by itself: an address that changed hands at a provider would open somebody else's account.
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

/** Forgets who somebody is elsewhere, unless it is their only way in. */
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

import { z } from "zod";
import type { Queries } from "../../platform/database/database.ts";
import type { Session, SessionStore } from "./sessions.ts";

const Stored = z.object({
  person: z.string(),
  epoch: z.number().default(0),
  device: z.string(),
  createdAt: z.number(),
  seenAt: z.number(),
});

/** Sessions in Deno KV, by hash and by person. KV expires entries late; `Sessions` checks the time itself. */
export function kvSessions(kv: Deno.Kv): SessionStore {
  const byHash = (hash: string) => ["session", hash];
  const byPerson = (person: string, hash: string) => ["session_of", person, hash];
  const read = (entry: { key: Deno.KvKey; value: unknown }): Session | null => {
    const stored = Stored.safeParse(entry.value);
    return stored.success ? { ...stored.data, hash: String(entry.key.at(-1)) } : null;
  };
  const remove: SessionStore["remove"] = async ({ hash, person }) => {
    await kv.atomic().delete(byHash(hash)).delete(byPerson(person, hash)).commit();
  };
  return {
    async put({ hash, ...session }) {
      await kv.atomic()
        .set(byHash(hash), session)
        .set(byPerson(session.person, hash), true)
        .commit();
    },
    async find(hash) {
      return read(await kv.get(byHash(hash)));
    },
    async touch({ hash }, seenAt) {
      const entry = await kv.get(byHash(hash));
      const session = read(entry);
      if (session === null) return;
      const { hash: _, ...stored } = session;
      await kv.atomic().check(entry).set(byHash(hash), { ...stored, seenAt }).commit();
    },
    remove,
    async list(person) {
      const sessions: Session[] = [];
      for await (const { key } of kv.list({ prefix: ["session_of", person] })) {
        const session = read(await kv.get(byHash(String(key.at(-1)))));
        if (session !== null) sessions.push(session);
      }
      return sessions;
    },
    async sweep(createdBefore, seenBefore) {
      for await (const entry of kv.list({ prefix: ["session"] })) {
        const session = read(entry);
        if (session === null) await kv.delete(entry.key);
        else if (session.createdAt < createdBefore || session.seenAt < seenBefore) {
          await remove(session);
        }
      }
    },
  };
}

interface Row {
  hash: string;
  person_id: string;
  epoch: number;
  device: string;
  created_at: Date;
  seen_at: Date;
}

/** The same in Postgres, for several nodes. */
export function postgresSessions(sql: Queries): SessionStore {
  const read = (row: Row): Session => ({
    hash: row.hash,
    person: row.person_id,
    epoch: row.epoch,
    device: row.device,
    createdAt: row.created_at.getTime(),
    seenAt: row.seen_at.getTime(),
  });
  return {
    async put({ hash, person, epoch, device, createdAt, seenAt }) {
      await sql`
        insert into session (hash, person_id, epoch, device, created_at, seen_at)
        values (${hash}, ${person}, ${epoch}, ${device}, ${new Date(createdAt)}, ${new Date(
        seenAt,
      )})`;
    },
    async find(hash) {
      const [row] = await sql<[Row?]>`select * from session where hash = ${hash}`;
      return row === undefined ? null : read(row);
    },
    async touch({ hash }, seenAt) {
      await sql`update session set seen_at = ${new Date(seenAt)} where hash = ${hash}`;
    },
    async remove({ hash }) {
      await sql`delete from session where hash = ${hash}`;
    },
    async list(person) {
      return (await sql<Row[]>`select * from session where person_id = ${person}`).map(read);
    },
    async sweep(createdBefore, seenBefore) {
      await sql`
        delete from session
         where created_at < ${new Date(createdBefore)} or seen_at < ${new Date(seenBefore)}`;
    },
  };
}

import type { Queries } from "../../platform/database/database.ts";

const PAGE = 1_000;

/**
 * Expires outputs that their task does not list: left by a process that was killed between storing a file and
 * updating the task, or by a task that ended without results. Each sweep checks one page of all files, so that its
 * cost does not depend on the number of files.
 */
export class UnlistedOutputs {
  #after = "";

  constructor(private readonly sql: Queries) {}

  /** Checks the next page. Returns how many outputs it expired; the cleaner deletes them. */
  async sweep(): Promise<number> {
    const [{ last, rows, ended }] = await this.sql<
      [{ last: string | null; rows: number; ended: number }]
    >`
      with page as (
        select id, task_id, ready_at, expires_at from file
         where id > ${this.#after} order by id limit ${PAGE}),
      ended as (
        update file f set expires_at = now()
          from page p join task t on t.id = p.task_id
         where f.id = p.id and p.ready_at is not null and p.expires_at > now()
           and t.completed_at is not null
           and not t.outputs @> jsonb_build_array(jsonb_build_object('file_id', p.id))
        returning f.id)
      select max(id) as last, count(*)::int as rows, (select count(*)::int from ended) as ended
        from page`;
    this.#after = rows < PAGE || last === null ? "" : last;
    return ended;
  }
}

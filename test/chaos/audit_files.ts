import { join } from "node:path";
import { openDatabase } from "../../src/store/postgres.ts";
import type { Findings } from "./findings.ts";
import type { Task } from "./records.ts";
import type { World } from "./world.ts";

/** Every output of a succeeded task, fetched from the address that the task names. */
export async function auditOutputs(world: World, key: string, task: Task, findings: Findings) {
  // Asked for again: the address is one of the node that answers, and freshly signed.
  const { json } = await world.call(`/v1/tasks/${task.id}`, key);
  for (const { url, bytes } of (json as Task).output) {
    const res = await fetch(url, { signal: AbortSignal.timeout(30_000) }).catch(() => null);
    const length = res === null ? 0 : (await res.bytes().catch(() => new Uint8Array())).length;
    findings.expect(
      "outputs",
      res?.status === 200 && length === bytes,
      () => `${task.id}: ${res?.status} with ${length} of ${bytes} bytes`,
    );
  }
}

export async function auditUpload(
  address: string,
  key: string,
  file: { id: string; sha256: string },
  findings: Findings,
): Promise<void> {
  const res = await fetch(`${address}/v1/files/${file.id}/content`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(30_000),
  });
  const digest = await crypto.subtle.digest("SHA-256", await res.bytes());
  const isSame = res.status === 200 && new Uint8Array(digest).toHex() === file.sha256;
  findings.expect("uploads", isSame, () => `${file.id}: ${res.status}`);
}

/** In the database itself, with no gateway running: files that no task lists, bytes that no row knows. */
export async function auditStrayOutputs(world: World, findings: Findings): Promise<void> {
  const dataDir = join(world.dataDir, "data");
  await using database = await openDatabase({
    ...(world.postgres === null ? {} : { databaseUrl: world.postgres.url }),
    dataDir,
    log() {},
  });
  const rows = await database.sql<
    { id: string; task_id: string; status: string | null; is_listed: boolean }[]
  >`
    select f.id, f.task_id, t.status,
           coalesce(t.outputs @> jsonb_build_array(jsonb_build_object('file_id', f.id)), false) as is_listed
      from file f left join task t on t.id = f.task_id
     where f.origin = 'output' and f.expires_at > now()`;
  for (const { id, task_id, status, is_listed } of rows) {
    findings.expect(
      "no_stray_output",
      is_listed && status === "succeeded",
      () =>
        `${id} of task ${task_id} (${status ?? "no such task"}) ${is_listed ? "" : "not listed"}`,
    );
  }
  const known = new Set(
    (await database.sql<{ id: string }[]>`select id from file`).map((row) => row.id),
  );
  for await (const path of filesUnder(join(dataDir, "files"))) {
    const id = path.split("/").at(-1)!.replace(/\.part$/, "");
    findings.expect("no_stray_output", known.has(id), () => `${path} belongs to no row`);
  }
}

async function* filesUnder(folder: string): AsyncGenerator<string> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  for (const { name, isDirectory } of entries) {
    if (isDirectory) yield* filesUnder(join(folder, name));
    else yield join(folder, name);
  }
}

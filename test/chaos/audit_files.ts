import type { Findings } from "./findings.ts";
import type { Records, Task } from "./records.ts";
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

/** Output files that no succeeded task lists, as the API shows them. */
export function strayOutputs({ tasks, outputFiles }: Pick<Records, "tasks" | "outputFiles">) {
  const listed = new Set(tasks.flatMap(({ output }) => output.map(({ file_id }) => file_id)));
  return outputFiles.filter(({ id }) => !listed.has(id)).map(({ id }) => id);
}

import { basename, dirname, resolve } from "node:path";
import type { PlanKeeper } from "./keeper.ts";

/** Editors write a file in several steps: wait until they are quiet. */
const QUIET_MS = 150;
/** Where Kubernetes keeps a mounted file: it replaces this link, and the file itself stays the same. */
const MOUNTED = "..data";

/** Reloads when the file changes or SIGHUP arrives, until disposed. */
export function watchDeclaration(file: string, keeper: PlanKeeper): Disposable {
  const path = resolve(file);
  const names = [basename(path), MOUNTED];
  // The folder, not the file: saving often replaces the file, and a watch on it would follow the old one.
  const watcher = Deno.watchFs(dirname(path), { recursive: false });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const soon = () => {
    clearTimeout(timer);
    // What happened before the end may be heard after it.
    if (isOver) return;
    timer = setTimeout(() => void keeper.reload("file"), QUIET_MS);
  };
  (async () => {
    for await (const event of watcher) {
      const isOurs = event.paths.some((changed) => names.includes(basename(changed)));
      if (isOurs && event.kind !== "access") soon();
    }
  })();
  const onSignal = () => void keeper.reload("signal");
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGHUP", onSignal);
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      watcher.close();
      if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGHUP", onSignal);
    },
  };
}

import { basename, dirname, resolve } from "node:path";
import type { PlanKeeper } from "./keeper.ts";

/** Editors write a file in several steps: wait until they are quiet. */
const QUIET_MS = 150;

/** Reloads when the file changes or SIGHUP arrives, until disposed. */
export function watchDeclaration(file: string, keeper: PlanKeeper): Disposable {
  const path = resolve(file);
  // The folder, not the file: saving often replaces the file, and a watch on it would follow the old one.
  const watcher = Deno.watchFs(dirname(path), { recursive: false });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void keeper.reload("file"), QUIET_MS);
  };
  (async () => {
    for await (const event of watcher) {
      const isOurs = event.paths.some((changed) => basename(changed) === basename(path));
      if (isOurs && event.kind !== "access") soon();
    }
  })();
  const onSignal = () => void keeper.reload("signal");
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGHUP", onSignal);
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      watcher.close();
      if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGHUP", onSignal);
    },
  };
}

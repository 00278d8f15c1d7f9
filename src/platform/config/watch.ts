import { basename, dirname, resolve } from "node:path";
import type { ConfigStore } from "./config_store.ts";

/** Editors write a file in several steps: wait until they are quiet. */
const QUIET_MS = 150;
/** Where Kubernetes keeps a mounted file: it replaces this link, and the file itself stays the same. */
const MOUNTED = "..data";

/** Reloads when the file, or one that it names, changes, or SIGHUP arrives, until disposed. */
export function watchConfigFile(file: string, configStore: ConfigStore): Disposable {
  const path = resolve(file);
  const watchers = new Map<string, Deno.FsWatcher>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const soon = () => {
    clearTimeout(timer);
    // What happened before the end may be heard after it.
    if (isOver) return;
    timer = setTimeout(() => void configStore.reload("file"), QUIET_MS);
  };
  const isOurs = (changed: string) =>
    basename(changed) === MOUNTED ||
    [path, ...configStore.current.files].some((ours) => basename(ours) === basename(changed));
  // The folder, not the file: saving often replaces the file, and a watch on it would follow the old one.
  const watchFolderOf = (ours: string) => {
    const folder = dirname(ours);
    if (isOver || watchers.has(folder)) return;
    const watcher = Deno.watchFs(folder, { recursive: false });
    watchers.set(folder, watcher);
    void (async () => {
      for await (const { kind, paths } of watcher) {
        if (kind !== "access" && paths.some(isOurs)) soon();
      }
    })();
  };
  watchFolderOf(path);
  for (const named of configStore.current.files) watchFolderOf(named);
  configStore.onChange(({ files }) => files.forEach(watchFolderOf));
  const onSignal = () => void configStore.reload("signal");
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGHUP", onSignal);
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGHUP", onSignal);
    },
  };
}

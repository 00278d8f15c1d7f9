import { basename, dirname, resolve } from "node:path";
import type { ConfigStore } from "./config_store.ts";

/** Editors save a file in several steps: reload once it has not changed for this long. */
const DEBOUNCE_MS = 150;
/** Kubernetes updates a mounted file by replacing this link; the file's own entry does not change. */
const KUBERNETES_LINK = "..data";

/** Reloads when gateway.yaml or a file that it names changes, also one with a secret, and on SIGHUP, until disposed. */
export function watchConfigFile(file: string, configStore: ConfigStore): Disposable {
  const path = resolve(file);
  const watchers = new Map<string, Deno.FsWatcher>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDisposed = false;
  const scheduleReload = () => {
    clearTimeout(timer);
    // Events from before the disposal may still arrive.
    if (isDisposed) return;
    timer = setTimeout(() => void configStore.reload("file"), DEBOUNCE_MS);
  };
  const isWatched = (changed: string) =>
    basename(changed) === KUBERNETES_LINK ||
    [path, ...configStore.watchedFiles].some((file) => basename(file) === basename(changed));
  // Watches the folder: saving often replaces the file, and a watch on the file would stay on the old one.
  const watchFolderOf = (file: string) => {
    const folder = dirname(file);
    if (isDisposed || watchers.has(folder)) return;
    const watcher = openWatcher(folder);
    if (watcher === null) return;
    watchers.set(folder, watcher);
    void (async () => {
      for await (const { kind, paths } of watcher) {
        if (kind !== "access" && paths.some(isWatched)) scheduleReload();
      }
    })();
  };
  watchFolderOf(path);
  configStore.watchedFiles.forEach(watchFolderOf);
  configStore.onReload(() => configStore.watchedFiles.forEach(watchFolderOf));
  const onSignal = () => void configStore.reload("signal");
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGHUP", onSignal);
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGHUP", onSignal);
    },
  };
}

/** Null for a folder that does not exist: a reload that finds it there watches it. */
function openWatcher(folder: string): Deno.FsWatcher | null {
  try {
    return Deno.watchFs(folder, { recursive: false });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

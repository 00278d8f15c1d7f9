import { join } from "node:path";

/** A file system of a few megabytes that a test can fill. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Takes all the room that is left. */
  fill(): Promise<void>;
  /** Gives it back. */
  free(): Promise<void>;
}

/** Null, said loudly, where this machine does not let us mount: the test must then be skipped. */
export async function smallDisk(megabytes: number): Promise<SmallDisk | null> {
  const path = await Deno.makeTempDir({ prefix: "tollgate-disk-" });
  const mounted = await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  if (!mounted) {
    console.warn("SKIPPED: a file system cannot be mounted here, so a full disk cannot be tried");
    await Deno.remove(path);
    return null;
  }
  const ballast = join(path, "ballast");
  return {
    path,
    async fill() {
      using file = await Deno.open(ballast, { create: true, append: true });
      for (const bytes of [1_048_576, 4_096]) {
        const chunk = new Uint8Array(bytes);
        try {
          while (true) await file.write(chunk);
        } catch (error) {
          if ((error as { code?: string }).code !== "ENOSPC") throw error;
        }
      }
    },
    free: () => Deno.remove(ballast),
    async [Symbol.asyncDispose]() {
      // Lazily: what still has a file open there keeps nothing else from being cleaned up.
      await run("umount", ["--lazy", path]);
      await Deno.remove(path);
    },
  };
}

async function run(program: string, args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}

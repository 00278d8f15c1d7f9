import { createHash } from "node:crypto";
import { join } from "node:path";
import type { FuzzTarget } from "./target.ts";

const CORPUS = join(import.meta.dirname!, "corpus");
const TARGETS = join(import.meta.dirname!, "targets");

/** The names of all targets. */
export function targetNames(): string[] {
  return [...Deno.readDirSync(TARGETS)].map(({ name }) => name)
    .filter((name) => name.endsWith(".ts") && !name.endsWith("_test.ts"))
    .map((name) => name.slice(0, -".ts".length)).sort();
}

export async function loadTarget(name: string): Promise<FuzzTarget> {
  return (await import(new URL(`./targets/${name}.ts`, import.meta.url).href)).default;
}

export interface KeptInput {
  file: string;
  bytes: Uint8Array;
}

/** The kept inputs of a target, by name. */
export async function readCorpus(name: string): Promise<KeptInput[]> {
  const folder = join(CORPUS, name);
  await Deno.mkdir(folder, { recursive: true });
  const kept: KeptInput[] = [];
  for (const entry of [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1)) {
    const file = join(folder, entry.name);
    kept.push({ file, bytes: await Deno.readFile(file) });
  }
  return kept;
}

/** Keeps an input that failed: every later run tries it first. */
export async function keepFailure(name: string, bytes: Uint8Array): Promise<string> {
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const file = join(CORPUS, name, `failure-${digest}`);
  await Deno.mkdir(join(CORPUS, name), { recursive: true });
  await Deno.writeFile(file, bytes);
  return file;
}

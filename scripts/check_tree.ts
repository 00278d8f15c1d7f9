/**
 * Checks what a lint rule cannot see, because it sees one TypeScript file at a time: banned words in file
 * names, SQL, Markdown, YAML and styles, names that two files of src/ export, paths in Markdown that do not exist,
 * and tests that assert nothing.
 */
import { fileURLToPath } from "node:url";
import { findBannedWords } from "./banned_words.ts";
import { findEmptyTests } from "./check_assertions.ts";
import { SHARED_NAMES } from "./lint_exceptions.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const CODE = /^(?:src|providers|scripts|test)\/.*\.tsx?$/;
/** Test files, and the helpers they call. */
const TESTS = /_test\.tsx?$|^test\/.*\.tsx?$|\/test_\w+\.ts$/;
const TEXT =
  /\.(?:ts|tsx|sql|md|ya?ml|css|json|html|mjs|js|sh|service|conf)$|(?:^|\/)[A-Z][a-z]+file$/;
/** Made by programs or by other projects. */
const NOT_OURS = /^(?:deno\.lock|LICENSE|package-lock\.json|src\/site\/assets\/)/;

export interface Violation {
  rule: "banned-words" | "file-name" | "exported-twice" | "broken-link" | "no-assertion";
  path: string;
  /** The word, or the name of the export or file. */
  name: string;
  message: string;
}

export async function trackedFiles(): Promise<string[]> {
  const { stdout } = await new Deno.Command("git", {
    args: ["-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    stdout: "piped",
  }).output();
  const paths = new TextDecoder().decode(stdout).split("\0").filter((path) => path !== "");
  return paths.sort();
}

export function checkFileNames(paths: readonly string[]): Violation[] {
  return paths.flatMap((path) =>
    findBannedWords(path, path).map(({ word, use }): Violation => ({
      rule: "file-name",
      path,
      name: word,
      message: `the path contains "${word}": use ${use}`,
    }))
  );
}

export function checkWords(path: string, text: string): Violation[] {
  return findBannedWords(path, text).map(({ word, use, start }): Violation => ({
    rule: "banned-words",
    path,
    name: word,
    message: `line ${text.slice(0, start).split("\n").length}: "${word}" is not a word of this ` +
      `project: use ${use}`,
  }));
}

/** Names that more than one file exports. A re-export is no second definition. */
export function checkExports(sources: ReadonlyMap<string, string>): Violation[] {
  const definedIn = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    for (const [, name] of text.matchAll(EXPORT)) {
      definedIn.set(name!, (definedIn.get(name!) ?? new Set()).add(path));
    }
  }
  return [...definedIn]
    .filter(([name, paths]) => paths.size > 1 && SHARED_NAMES[name] === undefined)
    .flatMap(([name, paths]) =>
      [...paths].map((path): Violation => ({
        rule: "exported-twice",
        path,
        name,
        message: `exports ${name}, and so does ${[...paths].filter((p) => p !== path).join(", ")}`,
      }))
    );
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;

const LINK = /\]\((?!https?:|mailto:|#|\/)([^)#\s]+)(?:#[^)]*)?\)/g;
/** Paths of the project in prose: `src/http/app.ts`, `test/ledger`. */
const PATH = /`((?:src|providers|schemas|scripts|test|docs|deploy)\/[\w./-]+)`/g;

/** Links of a Markdown file, and paths it names, that lead nowhere. */
export function checkLinks(
  path: string,
  text: string,
  exists: (path: string) => boolean,
): Violation[] {
  const linked = [...text.matchAll(LINK)].map(([, link]) =>
    new URL(link!, `file:///${path}`).pathname.slice(1)
  );
  const named = [...text.matchAll(PATH)].map(([, name]) => name!.replace(/\/$/, ""));
  return [...linked, ...named].filter((target) => !exists(target)).map((target): Violation => ({
    rule: "broken-link",
    path,
    name: target,
    message: `names ${target}, which does not exist`,
  }));
}

/** Tests that nothing but an exception can fail. */
export function checkAssertions(sources: ReadonlyMap<string, string>): Violation[] {
  return findEmptyTests(sources).map(({ path, line, title }): Violation => ({
    rule: "no-assertion",
    path,
    name: title,
    message: `line ${line}: the test "${title}" asserts nothing`,
  }));
}

async function violationsOfTree(): Promise<Violation[]> {
  const tracked = await trackedFiles();
  const known = new Set(tracked.flatMap((path) => [path, ...foldersOf(path)]));
  const paths = tracked.filter((path) => !NOT_OURS.test(path));
  const violations = checkFileNames(paths);
  const sources = new Map<string, string>();
  const tests = new Map<string, string>();
  for (const path of paths.filter((path) => TEXT.test(path))) {
    const text = await Deno.readTextFile(ROOT + path).catch((error) => {
      // Removed from the work tree, not yet from the index.
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    });
    if (path.endsWith(".md") && path !== "CHANGELOG.md") {
      violations.push(...checkLinks(path, text, (target) => known.has(target)));
    }
    if (TESTS.test(path)) tests.set(path, text);
    if (!CODE.test(path)) violations.push(...checkWords(path, text));
    else if (path.startsWith("src/") && !/_test\.tsx?$/.test(path)) sources.set(path, text);
  }
  return [...violations, ...checkExports(sources), ...checkAssertions(tests)];
}

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

if (import.meta.main) {
  const violations = await violationsOfTree();
  for (const { path, message } of violations) console.error(`${path}: ${message}`);
  if (violations.length > 0) Deno.exit(1);
}

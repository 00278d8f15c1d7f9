/**
 * Writes the parts of the documentation that are made from the source: endpoints, error codes, log messages,
 * metrics, commands, settings of clients and the list of decisions. They stand between `<!-- generated: … -->` and `<!-- end -->`. Explanations, where a table has a
 * column of them, are written by hand and kept. `--check` fails when a page is stale; a missing explanation is a warning.
 */
import { fileURLToPath } from "node:url";
import { COMMANDS } from "../src/cli/main.ts";
import { apiErrorTable } from "../src/http/error_status.ts";
import { AREAS } from "../src/http/routes/registry.ts";
import type { RouteAuth } from "../src/http/routes/route.ts";
import { CLIENTS_PAGE, fillInClients } from "./clients_page.ts";
import { logMessages, metrics, type Source } from "./read_source.ts";

const ROOT = new URL("../", import.meta.url);

interface Table {
  page: string;
  /** Names the place in the page. */
  name: string;
  /** Headings of the generated columns. */
  columns: readonly string[];
  /** Heading of the last column, which is written by hand. */
  explanation?: string;
  /** Generated cells; the first identifies the row. */
  rows: readonly (readonly string[])[];
}

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``;

async function readSources(): Promise<Source[]> {
  const sources: Source[] = [];
  const visit = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
      const path = `${folder}${name}`;
      if (isDirectory) await visit(`${path}/`);
      else if (/(?<!_test)\.tsx?$/.test(name)) {
        sources.push({ path, text: await Deno.readTextFile(new URL(path, ROOT)) });
      }
    }
  };
  await visit("src/");
  return sources.sort((a, b) => a.path < b.path ? -1 : 1);
}

function endpointTable(): Table {
  return {
    page: "docs/operate/endpoints.md",
    name: "endpoints",
    columns: ["endpoint", "operation", "needs", "what it does"],
    rows: AREAS.flatMap(({ routes }) => routes)
      .map(({ method, path, operation, auth, scope, summary }) => [
        code(`${method} ${operation === undefined ? "" : "/v1"}${path}`),
        operation === undefined ? "" : code(operation),
        scope === undefined ? NEEDS[auth] : `${NEEDS[auth]}: ${code(scope)}`,
        summary,
      ]),
  };
}

const NEEDS: Readonly<Record<RouteAuth, string>> = {
  api_key: "API key",
  admin_token: "admin token",
  metrics_token: "metrics or admin token",
  signed_url: "signed URL",
  none: "nothing",
};

function tablesOf(sources: Source[], decisions: [file: string, title: string][]): Table[] {
  return [
    endpointTable(),
    {
      page: "docs/adr/README.md",
      name: "decisions",
      columns: ["number", "decision"],
      rows: decisions.map(([file, title]) => [file.slice(0, 4), `[${title}](${file})`]),
    },
    {
      page: "docs/use/errors.md",
      name: "error codes",
      columns: ["Code", "Status", "Type"],
      explanation: "When",
      rows: apiErrorTable().toSorted((a, b) => a.status - b.status)
        .map((row) => [code(row.code), `${row.status}`, row.type]),
    },
    {
      page: "docs/operate/logs.md",
      name: "log messages",
      columns: ["message", "level", "fields"],
      explanation: "meaning, and what to do",
      rows: logMessages(sources).map(({ message, level, fields }) => [
        code(message),
        level,
        fields.map(code).join(", "),
      ]),
    },
    {
      page: "docs/operate/metrics.md",
      name: "metrics",
      columns: ["metric", "labels", "what it counts"],
      rows: metrics(sources).map(({ name, labels, help }) => [
        code(name),
        labels.map(code).join(", "),
        help,
      ]),
    },
    {
      page: "docs/operate/cli.md",
      name: "commands",
      columns: ["command", "options", "what it does"],
      rows: COMMANDS.map(([, { usage, options = {}, summary }]) => [
        code(usage.split(" [--")[0]!),
        Object.keys(options).map((name) => code(`--${name}`)).join(", "),
        summary,
      ]),
    },
  ];
}

/** Pages of docs/adr with the title of each: `# 0001. Title`. */
async function readDecisions(): Promise<[file: string, title: string][]> {
  const folder = new URL("docs/adr/", ROOT);
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => /^\d{4}-/.test(name)).sort();
  return await Promise.all(files.map(async (file): Promise<[string, string]> => {
    const text = await Deno.readTextFile(new URL(file, folder));
    return [file, /^# (?:(?:ADR )?\d+[.:]? )?(.*)$/m.exec(text)?.[1] ?? file];
  }));
}

/** The page with the table written anew; explanations of rows that are still there are kept. */
function fillIn(page: string, { name, columns, explanation, rows, page: path }: Table): string {
  const place = new RegExp(`(<!-- generated: ${name} -->\n)([^]*?)(<!-- end -->)`);
  const [, start, present, end] = place.exec(page) ?? [];
  if (present === undefined) throw new Error(`${path} has no place for ${name}`);
  const kept = new Map<string, string>();
  for (const line of present.split("\n")) {
    const cells = line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());
    if (cells.length > 1) kept.set(cells[0]!, cells.at(-1)!);
  }
  const head = explanation === undefined ? columns : [...columns, explanation];
  const lines = [
    head,
    head.map(() => "---"),
    ...rows.map((row) => explanation === undefined ? row : [...row, kept.get(row[0]!) ?? ""]),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  return page.replace(place, () => `${start}${lines.join("\n")}\n${end}`);
}

/** Rows without an explanation. */
function emptyExplanations(page: string): string[] {
  return page.split("\n").filter((line) => /^\| .*\|\s+\|$/.test(line));
}

async function main(check: boolean): Promise<void> {
  let isStale = false;
  const tables = tablesOf(await readSources(), await readDecisions());
  const parts = [
    ...tables.map((table) => ({ page: table.page, write: (page: string) => fillIn(page, table) })),
    { page: CLIENTS_PAGE, write: fillInClients },
  ];
  for (const { page, write } of parts) {
    const url = new URL(page, ROOT);
    const present = await Deno.readTextFile(url);
    const written = write(present);
    if (!check) {
      await Deno.writeTextFile(fileURLToPath(url), written);
    } else if (written !== present) {
      console.error(`${page} is stale: run \`deno task generate\`.`);
      isStale = true;
    }
    for (const line of emptyExplanations(written)) {
      console.error(`${page}: explain ${line}`);
    }
  }
  if (isStale) Deno.exit(1);
}

if (import.meta.main) await main(Deno.args.includes("--check"));

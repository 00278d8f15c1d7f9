import type { StorageOverview, StoredPartition } from "../workflows/retention/describe_storage.ts";
import type { StorageSweep } from "../workflows/retention/sweep_storage.ts";
import { callAdminApi } from "./client.ts";
import { type Command, optionText, table, type Terminal } from "./command.ts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** 1536 → "1.5 KiB" */
function formatSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

const COLUMNS = ["NAME", "ROWS (ESTIMATE)", "SIZE", "NEXT", "FROM"];

function sizeRow(
  { name, rows, bytes }: { name: string; rows: number | null; bytes: number },
  part?: StoredPartition,
): string[] {
  const next = part?.next ?? "";
  const estimate = rows === null ? "unknown" : String(rows);
  return [name, estimate, formatSize(bytes), next, part?.due_at ?? ""];
}

const readOverview = (terminal: Terminal) =>
  callAdminApi<StorageOverview>(terminal, "GET", "/storage");

export const storageList: Command = {
  usage: "storage list [--table <table>]",
  summary: "Show what the database holds, by table and month, and when it is dropped or archived",
  endpoints: ["GET /admin/v1/storage"],
  options: { table: { type: "string", summary: "Only this table, such as receipt" } },
  async run(terminal, _args, options) {
    const wanted = optionText(options, "table");
    const overview = await readOverview(terminal);
    const tables = overview.tables.filter(({ name }) => wanted === undefined || name === wanted);
    const rows = tables.flatMap((each) => [
      sizeRow(each),
      ...each.partitions.map((part) => sizeRow({ ...part, name: `  ${part.name}` }, part)),
    ]);
    const archives = overview.archives.map(({ month, archived_at, files }) => [
      month,
      archived_at,
      files.map(({ key, rows, bytes }) => `${key} (${rows} rows, ${formatSize(bytes)})`).join(", "),
    ]);
    const archived = archives.length === 0
      ? ""
      : `\n\n${table([["MONTH", "ARCHIVED", "FILES"], ...archives])}`;
    terminal.print({ ...overview, tables }, table([COLUMNS, ...rows]) + archived);
    return 0;
  },
};

export const storageSweep: Command = {
  usage: "storage sweep [--dry-run]",
  summary: "Drop and archive what is over its time now (the gateway also does this every hour)",
  endpoints: ["POST /admin/v1/storage/sweep", "GET /admin/v1/storage"],
  options: {
    "dry-run": { type: "boolean", summary: "Only show what would be dropped or archived" },
  },
  async run(terminal, _args, options) {
    if (options["dry-run"] === true) return await showDue(terminal);
    const swept = await callAdminApi<StorageSweep>(terminal, "POST", "/storage/sweep");
    const { dropped, archived, tasks, obstacle } = swept;
    const lines = [
      `Dropped: ${dropped.join(", ") || "nothing"}.`,
      `Archived: ${archived.join(", ") || "nothing"}.`,
      `Tasks deleted: ${tasks}.`,
      ...(obstacle === null ? [] : [`Not archived: ${obstacle}.`]),
    ];
    terminal.print(swept, lines.join("\n"));
    return obstacle === null ? 0 : 1;
  },
};

async function showDue(terminal: Terminal): Promise<number> {
  const { tables } = await readOverview(terminal);
  const now = new Date().toISOString();
  const due = tables.flatMap(({ partitions }) => partitions)
    .filter(({ due_at }) => due_at !== null && due_at <= now);
  const rows = due.map((part) => sizeRow(part, part));
  terminal.print(due, rows.length === 0 ? "Nothing is due." : table([COLUMNS, ...rows]));
  return 0;
}

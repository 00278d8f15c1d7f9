import { FIXED_ROUTES } from "../http/routes/registry.ts";
import { type Command, table } from "./command.ts";

type Commands = readonly (readonly [name: string, command: Command])[];

/** The commands of a group, such as `account`, or all of them for an empty name. */
export function formatOverview(commands: Commands, group: string): string {
  const listed = commands.filter(([name]) => group === "" || name.startsWith(`${group} `));
  const subject = group === "" ? "<command>" : `${group} <command>`;
  return [
    `Usage: deno task gateway ${subject} [--json]`,
    "",
    table(listed.map(([, { usage, summary }]) => [`  ${usage.split(" [")[0]}`, summary])),
    "",
    "Every command accepts --json and --help. `gateway --version` tells the build.",
    "Commands call the gateway at GATEWAY_URL (default: HOST and PORT) with ADMIN_TOKEN (default: DATA_DIR/admin-token).",
  ].join("\n");
}

/** The first word of commands with two, such as `account`. */
export function isGroup(commands: Commands, word: string | undefined): word is string {
  return word !== undefined && commands.some(([name]) => name.startsWith(`${word} `));
}

/** One command with its options and what it calls. */
export function formatHelp(command: Command): string {
  const options = Object.entries(command.options ?? {}).map((
    [name, { summary }],
  ) => [`  --${name}`, summary]);
  return [
    command.summary,
    "",
    `Usage: gateway ${command.usage}`,
    ...(options.length === 0 ? [] : ["", table(options)]),
    ...(command.endpoints === undefined ? [] : [
      "",
      "Calls:",
      table(command.endpoints.map((endpoint) => [`  ${endpoint}`, summaryOf(endpoint)])),
    ]),
  ].join("\n");
}

function summaryOf(endpoint: string): string {
  const found = FIXED_ROUTES.find(({ route, path }) => `${route.method} ${path}` === endpoint);
  return found?.route.summary ?? "";
}

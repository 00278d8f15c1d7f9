import type { ImportNotes } from "./imported.ts";
import type { ModelDrafts } from "./model_drafts.ts";
import type { NewApiDump, NewApiToken, NewApiUser } from "./new_api_dump.ts";
import type { NewApiGroups } from "./new_api_groups.ts";
import type { NewApiPrices } from "./new_api_prices.ts";
import { splitList } from "./new_api_services.ts";

/** A user of new-api as an account of this gateway. */
export interface AccountDraft {
  /** The user's id in new-api. */
  readonly user: number;
  readonly name: string;
  readonly email: string | null;
  readonly plan: string;
  /** Null: nothing to book. */
  readonly balance: string | null;
  readonly keys: readonly KeyDraft[];
  /** What the commands do not do. */
  readonly remarks: readonly string[];
}

interface KeyDraft {
  /** The token's id in new-api. */
  readonly token: number;
  readonly name: string;
  /** Options of `key create`, by name. */
  readonly restrictions: Readonly<Record<string, string>>;
}

interface Deps {
  readonly prices: NewApiPrices;
  readonly groups: NewApiGroups;
  readonly models: ModelDrafts;
  readonly notes: ImportNotes;
  readonly now: number;
}

const ENABLED = 1;
const ADMINISTRATOR = 10;
const NAME_MAX = 200;
const KEY_NAME_MAX = 100;
const LIST_MAX = 100;
const EMAIL = /^[a-z0-9][\w+%-]*(?:\.[\w+%-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/i;
const EMAIL_MAX = 254;

/** Accounts for the users that can sign in, with keys for their tokens that work. */
export function draftAccounts({ users, tokens }: NewApiDump, deps: Deps): AccountDraft[] {
  const byUser = Map.groupBy(tokens, ({ user_id }) => user_id);
  const emails = new Set<string>();
  const accounts = users.filter(({ status }) => status === ENABLED).map((user) =>
    draftAccount(
      user,
      { email: readUserEmail(user, emails), tokens: byUser.get(user.id) ?? [] },
      deps,
    )
  );
  const disabled = users.length - accounts.length;
  if (disabled > 0) deps.notes.leaveOut("users", `${disabled} disabled`);
  if (accounts.length > 0) {
    const keys = accounts.reduce((sum, each) => sum + each.keys.length, 0);
    deps.notes.change(
      "users",
      `${accounts.length} accounts and ${keys} API keys are created by the commands of --accounts; keys are new, because only their hashes are stored here`,
    );
  }
  return accounts;
}

/** Null where there is none, or none that an account can have: one address has one account. */
function readUserEmail({ email }: NewApiUser, taken: Set<string>): string | null {
  const address = email.trim().toLowerCase();
  if (address.length > EMAIL_MAX || !EMAIL.test(address) || taken.has(address)) return null;
  taken.add(address);
  return address;
}

function draftAccount(
  user: NewApiUser,
  { email, tokens }: { email: string | null; tokens: readonly NewApiToken[] },
  deps: Deps,
): AccountDraft {
  const name = cleanName(user.display_name || user.username, NAME_MAX) ?? `User ${user.id}`;
  const keys = tokens.map((token) => draftKey(token, deps));
  const remarks = [
    ...(email === null && user.email.trim() !== ""
      ? ["its email address is invalid or taken"]
      : []),
    ...(user.role >= ADMINISTRATOR ? ["was an administrator"] : []),
    ...(user.quota < 0 ? [`owes ${deps.prices.balanceOf(-user.quota)}`] : []),
    ...keys.filter((key) => typeof key === "string"),
    ...tokens.filter(({ group }) => group !== "" && group !== user.group).map(({ id }) =>
      `token ${id} was for another group; here the plan of the account applies`
    ),
  ];
  return {
    user: user.id,
    name,
    email,
    plan: deps.groups.planOf(user.group),
    balance: user.quota > 0 ? deps.prices.balanceOf(user.quota) : null,
    keys: keys.filter((key) => typeof key !== "string"),
    remarks,
  };
}

/** The key; or why the token gets none. */
function draftKey(token: NewApiToken, { prices, models, now }: Deps): KeyDraft | string {
  const name = cleanName(token.name, KEY_NAME_MAX) ?? `token ${token.id}`;
  if (token.status !== ENABLED) return `token ${token.id} (${name}) is disabled`;
  const expires = token.expired_time > 0 ? token.expired_time * 1000 : Infinity;
  if (expires <= now) return `token ${token.id} (${name}) has expired`;
  if (!token.unlimited_quota && token.remain_quota <= 0) {
    return `token ${token.id} (${name}) has no quota left`;
  }
  const allowed = token.model_limits_enabled ? splitList(token.model_limits) : null;
  const ids = allowed?.flatMap((model) => models.idOf(model) ?? []).slice(0, LIST_MAX);
  if (ids?.length === 0) return `token ${token.id} (${name}) is for models that are not imported`;
  const addresses = token.allow_ips.split(/[\s,]+/).filter((each) => each !== "").slice(
    0,
    LIST_MAX,
  );
  return {
    token: token.id,
    name,
    restrictions: {
      ...(ids === undefined ? {} : { models: ids.join(",") }),
      ...(expires < Date.UTC(9999, 0) ? { "expires-at": new Date(expires).toISOString() } : {}),
      ...(addresses.length === 0 ? {} : { "allowed-ips": addresses.join(",") }),
      ...(token.unlimited_quota ? {} : { budget: `${prices.balanceOf(token.remain_quota)}/total` }),
    },
  };
}

/** On one line, and no option of a command; null where nothing is left. */
function cleanName(text: string, lengthMax: number): string | null {
  const name = text.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").replace(/^[\s-]+/, "")
    .slice(0, lengthMax).toWellFormed().trim();
  return name === "" ? null : name;
}

const HEAD = `#!/bin/sh
# Creates accounts, balances and API keys for users of new-api. Load the imported configuration first: it has
# their plans and models. This may be stopped and run again: accounts.created says what has been done.
set -eu
created=\${CREATED:-accounts.created}
touch "$created"
gateway() { deno task --quiet gateway "$@"; }

# account <user of new-api> <arguments of \`account create\`>; sets $id
account() {
  user=$1
  shift
  id=$(sed -n "s/^user $user //p" "$created")
  if [ -z "$id" ]; then
    made=$(gateway account create "$@" --json) || { echo "user $user: $made" >&2; exit 1; }
    id=$(printf '%s\\n' "$made" | sed -n 's/^  "id": "\\([^"]*\\)".*/\\1/p')
    echo "user $user $id" >> "$created"
  fi
}

# key <token of new-api> <arguments of \`key create\`>: prints the new key, for its user
key() {
  token=$1
  shift
  if ! grep -qx "token $token" "$created"; then
    gateway key create "$id" "$@"
    echo "token $token" >> "$created"
  fi
}
`;

/** A shell script of commands of this gateway. */
export function accountCommands(accounts: readonly AccountDraft[]): string {
  return [HEAD, ...accounts.map(renderAccount)].join("\n");
}

function renderAccount({ user, name, email, plan, balance, keys, remarks }: AccountDraft): string {
  const options = (all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([option, value]) => ` --${option} ${quoted(value)}`).join("");
  const lines = [
    ...remarks.map((text) => `# ${text}`),
    `account ${user} ${quoted(name)}${options({ ...(email === null ? {} : { email }), plan })}`,
    ...(balance === null
      ? []
      : [`gateway account credit "$id" ${balance} --reference 'new-api user ${user}'`]),
    ...keys.map((key) => `key ${key.token}${options({ name: key.name, ...key.restrictions })}`),
  ];
  return `${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", () => "'\\''")}'`;
}

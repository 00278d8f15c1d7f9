import { callAdminApi } from "./client.ts";
import { argument, type Command } from "./command.ts";

interface Person {
  id: string;
  account: string;
  email: string;
  operator: boolean;
}

interface Removed {
  identities: string[];
  api_keys: { id: string; name: string }[];
  webhook_endpoints: number;
  sessions: number;
}

export const personOperator: Command = {
  usage: "person operator <email> [--off]",
  summary:
    "Give a person with a verified email address the operator role in the console, or remove it",
  endpoints: ["PUT /admin/v1/people/{email}"],
  options: { off: { type: "boolean", summary: "Remove the operator role" } },
  async run(terminal, args, options) {
    const email = encodeURIComponent(argument(args, 0, "email"));
    const person = await callAdminApi<Person>(terminal, "PUT", `/people/${email}`, {
      operator: options.off !== true,
    });
    terminal.print(
      person,
      `${person.email} (${person.account}) is ${
        person.operator ? "now an operator" : "no longer an operator"
      }.`,
    );
    return 0;
  },
};

export const personPassword: Command = {
  usage: "person password <email>",
  summary: "Set a new password for a person; it is shown only once and verifies the email address",
  endpoints: ["POST /admin/v1/people/{email}/password"],
  async run(terminal, args) {
    const email = encodeURIComponent(argument(args, 0, "email"));
    const person = await callAdminApi<Person & { password: string; removed: Removed }>(
      terminal,
      "POST",
      `/people/${email}/password`,
    );
    terminal.print(
      person,
      `${person.password}\n\nNew password for ${person.email}. All sessions of this person were ended. ` +
        `Give the password only to the owner of this email address: the address is now verified.${
          removedText(person.removed)
        }`,
    );
    return 0;
  },
};

/** Lists what the reset removed from the account, one line each; empty when it removed nothing. */
function removedText(
  { identities, api_keys: keys, webhook_endpoints: endpoints }: Removed,
): string {
  const lines = [
    ...identities.map((provider) => `sign-in provider: ${provider}`),
    ...keys.map(({ id, name }) => `API key: ${id} (${name})`),
    ...(endpoints === 0 ? [] : [`webhook endpoints: ${endpoints}`]),
  ];
  if (lines.length === 0) return "";
  const list = lines.map((line) => `  - ${line}`).join("\n");
  return `\n\nRemoved, because the email address was not verified before:\n${list}`;
}

import { callAdminApi } from "./client.ts";
import { type Command, word } from "./command.ts";

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
  usage: "person operator <e-mail> [--off]",
  summary: "Make somebody with a verified address an operator of the console, or no longer",
  options: { off: { type: "boolean", summary: "Take it back" } },
  async run(terminal, words, options) {
    const email = encodeURIComponent(word(words, 0, "person, by e-mail address"));
    const person = await callAdminApi<Person>(terminal, "PUT", `/people/${email}`, {
      operator: options.off !== true,
    });
    terminal.print(
      person,
      `${person.email} (${person.account}) is ${
        person.operator ? "an operator" : "no longer an operator"
      }.`,
    );
    return 0;
  },
};

export const personPassword: Command = {
  usage: "person password <e-mail>",
  summary: "Give somebody a new password, shown this once; verifies their address",
  async run(terminal, words) {
    const email = encodeURIComponent(word(words, 0, "person, by e-mail address"));
    const person = await callAdminApi<Person & { password: string; removed: Removed }>(
      terminal,
      "POST",
      `/people/${email}/password`,
    );
    terminal.print(
      person,
      `${person.password}\n\nThe new password of ${person.email}, who is signed out everywhere. ` +
        `Give it to the owner of this address only: the address counts as verified now.${
          removedText(person.removed)
        }`,
    );
    return 0;
  },
};

/** What the reset took out of the account, one line each; empty when there was nothing. */
function removedText(
  { identities, api_keys: keys, webhook_endpoints: endpoints }: Removed,
): string {
  const lines = [
    ...identities.map((provider) => `way to sign in: ${provider}`),
    ...keys.map(({ id, name }) => `API key: ${id} (${name})`),
    ...(endpoints === 0 ? [] : [`webhook endpoints: ${endpoints}`]),
  ];
  if (lines.length === 0) return "";
  const list = lines.map((line) => `  - ${line}`).join("\n");
  return `\n\nRemoved, since the address was not verified before:\n${list}`;
}

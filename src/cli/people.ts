import { call } from "./client.ts";
import { type Command, word } from "./command.ts";

interface Person {
  id: string;
  account: string;
  email: string;
  operator: boolean;
}

export const personOperator: Command = {
  usage: "person operator <e-mail> [--off]",
  summary: "Make somebody an operator of the console, or no longer",
  options: { off: { type: "boolean", summary: "Take it back" } },
  async run(terminal, words, options) {
    const email = encodeURIComponent(word(words, 0, "person, by e-mail address"));
    const person = await call<Person>(terminal, "PUT", `/people/${email}`, {
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
  summary: "Give somebody a new password; it is shown this once",
  async run(terminal, words) {
    const email = encodeURIComponent(word(words, 0, "person, by e-mail address"));
    const person = await call<Person & { password: string }>(
      terminal,
      "POST",
      `/people/${email}/password`,
    );
    terminal.print(
      person,
      `${person.password}\n\nThe new password of ${person.email}, who is signed out everywhere.`,
    );
    return 0;
  },
};

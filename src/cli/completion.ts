import { argument, type Command, UsageError } from "./command.ts";

type Commands = readonly (readonly [name: string, command: Command])[];

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `gateway completion <shell>`: a script that completes commands and options. */
export function completion(commands: () => Commands): Command {
  return {
    usage: "completion <shell>",
    summary: "Print a script for bash, zsh or fish that completes commands and options",
    run(terminal, args) {
      const shell = argument(args, 0, "shell");
      if (!Object.hasOwn(SHELLS, shell)) throw new UsageError("The shell is bash, zsh or fish.");
      const script = SHELLS[shell as keyof typeof SHELLS](commands());
      terminal.print({ shell, script }, script);
      return Promise.resolve(0);
    },
  };
}

/** What may follow the words typed so far: nothing, `account`, `account create`. */
function continuations(commands: Commands): Map<string, string[]> {
  const words = new Map<string, Set<string>>();
  const add = (before: string, word: string) =>
    words.set(before, (words.get(before) ?? new Set()).add(word));
  for (const [name, { options = {} }] of commands) {
    const parts = name.split(" ");
    for (const [at, part] of parts.entries()) add(parts.slice(0, at).join(" "), part);
    for (const option of [...Object.keys(options), "json", "help"]) add(name, `--${option}`);
  }
  for (const option of ["--help", "--version"]) add("", option);
  return new Map([...words].map(([before, next]) => [before, [...next]]));
}

function bashScript(commands: Commands): string {
  const cases = [...continuations(commands)].map(([before, next]) =>
    `    "${before}") words="${next.join(" ")}" ;;`
  );
  return [
    "# gateway completion bash > ~/.local/share/bash-completion/completions/gateway",
    "_gateway() {",
    '  local words="" current="${COMP_WORDS[COMP_CWORD]}"',
    '  local before="${COMP_WORDS[*]:1:COMP_CWORD-1}"',
    "  # Arguments and options after the command do not change what it takes.",
    '  case "$before " in',
    ...[...continuations(commands).keys()].filter((name) => name !== "").toSorted(longestFirst)
      .map((name) => `    "${name} "*) before="${name}" ;;`),
    "  esac",
    '  case "$before" in',
    ...cases,
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _gateway gateway",
  ].join("\n");
}

/** `account create` before `account`: the first pattern that fits counts. */
function longestFirst(a: string, b: string): number {
  return b.length - a.length;
}

function zshScript(commands: Commands): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
}

function fishScript(commands: Commands): string {
  const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
  const lines = commands.flatMap(([name, { summary, options = {} }]) => {
    const [first, second] = name.split(" ") as [string, string?];
    const seen = second === undefined
      ? `__fish_seen_subcommand_from ${first}`
      : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    const command = second === undefined
      ? `complete -c gateway -f -n __fish_use_subcommand -a ${first} -d ${quoted(summary)}`
      : `complete -c gateway -f -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${
        quoted(summary)
      }`;
    const group = second === undefined
      ? []
      : [`complete -c gateway -f -n __fish_use_subcommand -a ${first}`];
    const flags = Object.entries(options).map(([option, { summary: text }]) =>
      `complete -c gateway -n '${seen}' -l ${option} -d ${quoted(text)}`
    );
    return [...group, command, ...flags];
  });
  const head = "# gateway completion fish > ~/.config/fish/completions/gateway.fish";
  return [head, ...new Set(lines)].join("\n");
}

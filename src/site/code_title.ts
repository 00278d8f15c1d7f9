const LANGUAGES: Readonly<Record<string, string>> = {
  sh: "Shell",
  ts: "TypeScript",
  py: "Python",
  json: "JSON",
  sql: "SQL",
  toml: "TOML",
  yaml: "YAML",
  text: "",
};

/** Programs, whose note says what they need; of other texts it says which file they are. */
const PROGRAMS = new Set(["ts", "py"]);

/** The title of a code box: ```` ```ts npm install openai ```` is "TypeScript: npm install openai". */
export function codeTitle(language: string, note: string): string {
  const name = LANGUAGES[language] ?? language;
  if (note === "") return name;
  return PROGRAMS.has(language) ? `${name}: ${note}` : note;
}

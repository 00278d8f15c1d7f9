import type { Setup } from "./client.ts";

/** A program and the packages it needs. */
type Program = readonly [packages: string, text: string];

/** The same in TypeScript and in Python. */
export function twoLanguages(typescript: Program, python: Program): Setup {
  return {
    snippets: [
      { language: "ts", note: `npm install ${typescript[0]}`, text: typescript[1] },
      { language: "py", note: `pip install ${python[0]}`, text: python[1] },
    ],
  };
}

/** The first message of a conversation. */
export const HELLO = {
  typescript: `[{ role: "user", content: "Hello!" }]`,
  python: `[{"role": "user", "content": "Hello!"}]`,
};

import { assertSound, SHIPPED } from "../../helpers/valid_config.ts";
import { mutate } from "../mutate.ts";
import type { FuzzTarget } from "../target.ts";

const CASES = new URL("../../config_cases/", import.meta.url);
const TOKENS = [
  ..."{}[]:,-#&*!|>'\"%@`?\t\n\\".split(""),
  ": ",
  "- ",
  "\n  ",
  "\r\n",
  "---\n",
  "...\n",
  "<<: *a",
  "&a ",
  "*a",
  "!!binary ",
  "!!set ",
  "%YAML 1.1\n",
  "${",
  "${X}",
  "${X:-y}",
  "{{",
  "{{ characters }}",
  "models:\n",
  "providers:\n",
  "prices:\n",
  "extends: default\n",
  "__proto__: ",
  "constructor: ",
  "null",
  "~",
  ".nan",
  "1e999",
  "0x10",
  "2026-01-01T23:59:60Z",
  "\u0000",
  "\u0085",
  "\u2028",
  "\uFEFF",
];

/** A configuration file compiles, or gives faults that stand inside it. It never throws. */
const target: FuzzTarget = {
  async seeds() {
    const encoder = new TextEncoder();
    const seeds = [encoder.encode(SHIPPED)];
    for await (const { name } of Deno.readDir(CASES)) {
      const text = await Deno.readTextFile(new URL(name, CASES));
      seeds.push(encoder.encode(text.slice(0, text.lastIndexOf("\n---\n") + 1)));
    }
    return seeds;
  },
  generate: (random, corpus) => mutate(random, { corpus, tokens: TOKENS }),
  run: (input) => assertSound(new TextDecoder("utf-8", { ignoreBOM: true }).decode(input)),
};

export default target;

import { join } from "node:path";
import type { Reach } from "./coverage.ts";
import type { TestResult } from "./sandbox.ts";

export type Outcome = TestResult["outcome"];

/**
 * What earlier runs have found, kept by content: an entry holds until the mutant, the test or anything the test
 * imports changes.
 */
export interface Store {
  reachOf(test: string): Promise<Reach | null>;
  keepReach(test: string, reach: Reach): Promise<void>;
  outcomeOf(mutant: string, test: string): Outcome | null;
  keepOutcome(mutant: string, test: string, outcome: Outcome): Promise<void>;
}

export async function openStore(folder: string): Promise<Store> {
  const linesFolder = join(folder, "lines");
  const outcomeFile = join(folder, "outcomes");
  await Deno.mkdir(linesFolder, { recursive: true });
  const outcomes = new Map<string, Outcome>();
  for (const line of (await readOr(outcomeFile, "")).split("\n")) {
    const [mutant, test, outcome] = line.split(" ");
    if (outcome !== undefined) outcomes.set(`${mutant} ${test}`, outcome as Outcome);
  }
  const reachFile = (test: string) => join(linesFolder, `${test}.json`);
  return {
    async reachOf(test) {
      return JSON.parse(await readOr(reachFile(test), "null"));
    },
    keepReach: (test, reach) => Deno.writeTextFile(reachFile(test), JSON.stringify(reach)),
    outcomeOf: (mutant, test) => outcomes.get(`${mutant} ${test}`) ?? null,
    async keepOutcome(mutant, test, outcome) {
      outcomes.set(`${mutant} ${test}`, outcome);
      // A line at a time: what is known stays known when the run is interrupted.
      await Deno.writeTextFile(outcomeFile, `${mutant} ${test} ${outcome}\n`, { append: true });
    },
  };
}

async function readOr(path: string, otherwise: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return otherwise;
    throw error;
  }
}

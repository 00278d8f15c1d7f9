import type { DramaPipeline } from "../../platform/config/config.ts";
import type { PriceSnapshot } from "../../domain/pricing/snapshot.ts";
import type { StoredOutput, TaskOutput } from "../tasks/task.ts";

export const DRAMA_STAGES = ["script", "roles", "storyboard", "video"] as const;
export type DramaStage = (typeof DRAMA_STAGES)[number];

/** The capability of a drama model that offers a stage. */
export const CAPABILITY_OF: Readonly<Record<DramaStage, string>> = {
  script: "script",
  roles: "roles",
  storyboard: "storyboard",
  video: "final_video",
};

/** What is written by the first stage: one scene is one shot. */
export interface Script {
  readonly synopsis: string;
  readonly scenes: readonly Scene[];
}

export interface Scene {
  readonly heading: string;
  readonly action: string;
  readonly dialogue: readonly { readonly character: string; readonly line: string }[];
}

export interface Roles {
  readonly characters: readonly { readonly name: string; readonly looks: string }[];
}

export interface Character {
  readonly name: string;
  /** A picture of the account's own. */
  readonly file_id?: string;
}

/** A chain as it is kept with the task: a reload does not change a drama that has begun. */
export type StoredPipeline =
  & Omit<DramaPipeline, "storyboard">
  & {
    readonly storyboard: {
      readonly model: string;
      readonly prompt: string;
      readonly size: string | null;
    } | null;
  };

/** What a drama task is to do. */
export interface DramaJob {
  readonly title: string;
  readonly script: string;
  readonly episode: number;
  readonly aspect_ratio: string | null;
  readonly characters: readonly Character[];
  /** The last stage that is wanted. */
  readonly until: DramaStage;
  readonly shots_max: number;
  readonly chain: StoredPipeline;
  /** Of the models of the chain, as they were when the request was accepted. */
  readonly prices: Readonly<Record<string, PriceSnapshot>>;
  /** What an earlier task has given already; it is neither made nor paid for again. */
  readonly given: GivenStages;
}

/** Results, wherever they come from. Shots count from 1. */
export interface GivenStages {
  readonly script?: Script;
  readonly roles?: Roles;
  readonly pictures?: Readonly<Record<number, StoredOutput>>;
  readonly clips?: Readonly<Record<number, StoredOutput>>;
  readonly lines?: Readonly<Record<number, StoredOutput>>;
}

/** A stage as the task's row keeps it; addresses are signed when it is shown. */
export interface StageStatus {
  readonly stage: DramaStage;
  readonly status: "waiting" | "running" | "succeeded" | "failed" | "cancelled";
  readonly progress: number;
  readonly outputs: readonly StageOutput[];
}

export type StageOutput = TaskOutput & { readonly shot?: number };

/** The stages up to the last one wanted. */
export function stagesUntil(last: DramaStage): readonly DramaStage[] {
  return DRAMA_STAGES.slice(0, DRAMA_STAGES.indexOf(last) + 1);
}

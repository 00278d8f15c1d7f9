import type {
  DramaPipeline,
  OptionalStage,
  StoryboardStage,
} from "../../platform/config/config.ts";
import type { PriceSnapshot } from "../../domain/pricing/snapshot.ts";
import type { DramaStage } from "../../model_types/drama.ts";
import type { StoredOutput, TaskStage, TextFile } from "../tasks/task.ts";

/** Result of the script stage: one scene is one shot. */
export interface Script {
  readonly synopsis: string;
  readonly scenes: readonly Scene[];
}

export interface Scene {
  readonly heading: string;
  readonly action: string;
  readonly dialogue: readonly { readonly character: string; readonly line: string }[];
}

/** Result of the roles stage. */
export interface Roles {
  readonly characters: readonly { readonly name: string; readonly looks: string }[];
}

export interface Character {
  readonly name: string;
  /** An image of the account's own. */
  readonly file_id?: string;
}

/** A pipeline as it is stored with the task: a reload does not change a drama that has begun. */
export type StoredPipeline =
  & Omit<DramaPipeline, "storyboard">
  & {
    readonly storyboard: OptionalStage<
      Omit<StoryboardStage, "sizes"> & { readonly size: string | null }
    >;
  };

/** The request of a drama task, checked and filled in. */
export interface DramaJob {
  readonly title: string;
  readonly script: string;
  readonly episode: number;
  readonly aspect_ratio: string | null;
  readonly characters: readonly Character[];
  /** The last stage that is wanted. */
  readonly until: DramaStage;
  readonly shots_max: number;
  readonly pipeline: StoredPipeline;
  /** Of the models of the pipeline, as they were when the request was accepted. */
  readonly prices: Readonly<Record<string, PriceSnapshot>>;
  /** Models of the pipeline that the quotas of the account's plan are not for. */
  readonly without_quota?: readonly string[] | undefined;
  /** Results of the earlier task that this one continues; they are neither made nor paid for again. */
  readonly given: GivenStages;
}

/** Results by stage. Shots count from 1. */
export interface GivenStages {
  readonly script?: Script;
  readonly roles?: Roles;
  /** The same as files. */
  readonly texts?: { readonly script?: TextFile; readonly roles?: TextFile };
  readonly images?: Readonly<Record<string, StoredOutput>>;
  readonly videos?: Readonly<Record<string, StoredOutput>>;
  /** Spoken lines, as audio. */
  readonly lines?: Readonly<Record<string, StoredOutput>>;
}

/** A stage of a drama as its row stores it. */
export interface StageStatus extends TaskStage {
  readonly stage: DramaStage;
}

/** A stage that a drama needs. The request check refuses stages that its model does not offer. */
export function requireStage<Stage>(
  stage: OptionalStage<Stage>,
  name: DramaStage | "speech",
): Stage {
  if (!stage.offered) throw new Error(`The pipeline offers no ${name} stage`);
  return stage;
}

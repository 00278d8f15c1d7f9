import type { DramaRequest } from "../../../schemas/requests.ts";
import { ApiError } from "../../lib/api_error.ts";
import { isPipeline } from "../../model_types/model_types.ts";
import type { Model } from "../../platform/config/config.ts";
import type { Files } from "../../domain/files/files.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { findTask, taskNotFound } from "../tasks/find_task.ts";
import { isOver, type StoredOutput, type TaskStage, TextFile } from "../tasks/task.ts";
import { readFile } from "../../model_types/limits.ts";
import { checkDramaLimits, checkStage } from "../../model_types/drama.ts";
import type { Character, DramaJob, GivenStages, Roles, Script, StoredPipeline } from "./drama.ts";
import { parseDramaJob, parseRoles, parseScript } from "./stored_drama.ts";
import { nameKey } from "./texts.ts";

type CheckedDrama = Omit<DramaJob, "prices">;
type Deps = Pick<TaskDeps, "files" | "database">;

/** Checks a request against its model, that its files belong to the account, and the task it continues. */
export async function checkDrama(
  deps: Deps,
  account: string,
  model: Model,
  body: DramaRequest,
): Promise<CheckedDrama> {
  const until = checkStage(model, body.stage);
  const earlier = body.from_task === undefined
    ? null
    : await continuedFrom(deps, account, body.from_task);
  const title = body.title ?? earlier?.job.title ?? missing("title");
  const script = body.script ?? earlier?.job.script ?? missing("script");
  const aspect_ratio = checkDramaLimits(model, {
    script,
    aspect_ratio: body.aspect_ratio ?? earlier?.job.aspect_ratio ?? undefined,
    characters: body.characters,
  });
  if (earlier !== null && script !== earlier.job.script) {
    throw new ApiError(
      "invalid_value",
      "script differs from that of from_task: leave one of the two out.",
      { param: "script" },
    );
  }
  return {
    title,
    script,
    episode: body.episode ?? earlier?.job.episode ?? 1,
    aspect_ratio,
    characters: body.characters === undefined
      ? earlier?.job.characters ?? []
      : await charactersOf(deps.files, account, body.characters),
    until,
    shots_max: Number(model.limits.max_shots),
    pipeline: storedPipeline(model, aspect_ratio),
    given: earlier === null
      ? {}
      : aspect_ratio === earlier.job.aspect_ratio
      ? earlier.given
      : textsOf(earlier.given),
  };
}

function missing(param: string): never {
  throw new ApiError("missing_field", `The field ${param} is missing.`, { param });
}

async function charactersOf(
  files: Files,
  account: string,
  named: NonNullable<DramaRequest["characters"]>,
): Promise<Character[]> {
  const seen = new Set<string>();
  const characters: Character[] = [];
  for (const [at, { name, reference_file_id }] of named.entries()) {
    const key = nameKey(name);
    if (key === "" || seen.has(key)) {
      throw new ApiError("invalid_value", "Each character needs a name of its own.", {
        param: `characters.${at}.name`,
      });
    }
    seen.add(key);
    if (reference_file_id === undefined) {
      characters.push({ name });
      continue;
    }
    const file = await readFile((id) => files.find(account, id), {
      id: reference_file_id,
      param: `characters.${at}.reference_file_id`,
      kinds: ["image"],
    });
    characters.push({ name, file_id: file.id });
  }
  return characters;
}

function storedPipeline({ id, pipeline }: Model, ratio: string | null): StoredPipeline {
  if (pipeline === null) throw new Error(`${id} has no pipeline`);
  const { storyboard } = pipeline;
  return {
    ...pipeline,
    storyboard: !storyboard.offered ? storyboard : {
      offered: true,
      model: storyboard.model,
      prompt: storyboard.prompt,
      size: (ratio === null ? undefined : storyboard.sizes.get(ratio)) ?? null,
    },
  };
}

/** The job and results of an earlier drama. Results whose files are deleted are left out. */
async function continuedFrom(
  { files, database: { sql } }: Deps,
  account: string,
  id: string,
): Promise<{ job: DramaJob; given: GivenStages }> {
  const param = "from_task";
  const row = await findTask(sql, account, id);
  if (row === null) {
    throw new ApiError("task_not_found", taskNotFound().message, {
      kind: "invalid_request",
      param,
    });
  }
  if (!isPipeline(row.type)) {
    throw new ApiError("invalid_value", "from_task must be a drama.", { param });
  }
  if (!isOver(row.status)) {
    throw new ApiError("invalid_value", "from_task is not over yet: wait for it, or cancel it.", {
      param,
    });
  }
  const [stored] = await sql<{ job: unknown }[]>`select job from task where id = ${id}`;
  const given = await givenBy(files, account, row.stages ?? []);
  if (given.script === undefined) {
    throw new ApiError("invalid_value", "from_task has finished no stage to go on from.", {
      param,
    });
  }
  return { job: parseDramaJob(stored!.job), given };
}

async function givenBy(
  files: Files,
  account: string,
  stages: readonly TaskStage[],
): Promise<GivenStages> {
  const texts: { script?: Script; roles?: Roles } = {};
  const textFiles: { script?: TextFile; roles?: TextFile } = {};
  const keys = { image: "images", video: "videos", audio: "lines" } as const;
  const found: Record<"images" | "videos" | "lines", Record<string, StoredOutput>> = {
    images: {},
    videos: {},
    lines: {},
  };
  for (const output of stages.flatMap(({ outputs }) => outputs)) {
    if ("content" in output) {
      if (output.type === "script") texts.script = parseScript(output.content);
      else texts.roles = parseRoles(output.content);
      const { type, file } = output;
      if (file !== undefined && await files.find(account, file.file_id) !== null) {
        textFiles[type === "script" ? "script" : "roles"] = file;
      }
    } else if (output.shot !== undefined && await files.find(account, output.file_id) !== null) {
      const { shot, ...stored } = output;
      found[keys[output.type]][shot] = stored;
    }
  }
  return { ...texts, texts: textFiles, ...found };
}

/** Images of another aspect ratio cannot be used; texts can. */
function textsOf({ script, roles, texts }: GivenStages): GivenStages {
  return { ...(script && { script }), ...(roles && { roles }), ...(texts && { texts }) };
}

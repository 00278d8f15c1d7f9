import type { RenderedTask } from "../../workflows/tasks/render_task.ts";
import { formatBytes, formatDuration } from "../format.ts";
import { Badge } from "../parts.tsx";
import { readableName } from "../readable_name.ts";

type Output = RenderedTask["output"][number];
type FileOutput = Exclude<Output, { content: unknown }>;

/** A stage of a drama, as the task shows it. */
export interface StageView {
  readonly stage: string;
  readonly status: "waiting" | "running" | "succeeded" | "failed" | "cancelled";
  readonly progress: number;
  readonly output: readonly Output[];
}

/** Results: text first, then images, videos and audio. */
export function Outputs({ outputs }: { outputs: readonly Output[] }) {
  const files = outputs.filter((output): output is FileOutput => !("content" in output));
  const texts = outputs.filter((output) => "content" in output);
  return (
    <div class="stack">
      {texts.map((output) => <Text content={(output as { content: unknown }).content} />)}
      {files.length > 0 && (
        <div class="previews">
          {files.map((output, at) => <Preview output={output} at={at} />)}
        </div>
      )}
    </div>
  );
}

const STAGE_BADGES = {
  waiting: undefined,
  running: "info",
  succeeded: "good",
  failed: "bad",
  cancelled: undefined,
} as const;

/** The stages of a drama; the last one with results is open, unless all are collapsed. */
export function Stages(
  { stages, isCollapsed }: { stages: readonly StageView[]; isCollapsed: boolean },
) {
  const last = isCollapsed ? -1 : stages.findLastIndex(({ output }) => output.length > 0);
  return (
    <section class="stack" aria-label="Stages">
      {stages.map(({ stage, status, progress, output }, at) => (
        <details class="disclosure" open={at === last}>
          <summary>
            <span class="row-tight">
              <span class="stage-name">{stage}</span>
              <Badge kind={STAGE_BADGES[status]} dot={status === "running"}>
                {readableName(status)}
                {status === "running" && ` ${progress}%`}
              </Badge>
            </span>
          </summary>
          {output.length === 0
            ? <p class="soft">{status === "failed" ? "No results." : "No results yet."}</p>
            : <Outputs outputs={output} />}
        </details>
      ))}
    </section>
  );
}

function Preview({ output, at }: { output: FileOutput; at: number }) {
  const path = localPath(output.url);
  const { width, height } = output;
  return (
    <figure class="preview">
      {output.type === "video"
        ? <video src={path} controls preload="metadata" width={width} height={height} />
        : output.type === "audio"
        ? <audio src={path} controls />
        : <img src={path} alt={`Result ${at + 1}`} width={width} height={height} />}
      <figcaption class="faint">
        <a href={path} target="_blank" rel="noopener">Open file</a>, {output.mime_type},{" "}
        {formatBytes(output.bytes)}
        {width !== undefined && `, ${width}\u00a0×\u00a0${height}`}
        {output.duration !== undefined && `, ${formatDuration(output.duration)}`}
      </figcaption>
    </figure>
  );
}

/** Text of a stage: a script, its characters, or anything else as JSON. */
function Text({ content }: { content: unknown }) {
  const { synopsis, scenes, characters } = (content ?? {}) as {
    synopsis?: unknown;
    scenes?: unknown;
    characters?: unknown;
  };
  if (typeof synopsis === "string" && Array.isArray(scenes)) {
    return <Script synopsis={synopsis} scenes={scenes as Scene[]} />;
  }
  if (Array.isArray(characters)) return <Roles characters={characters as Role[]} />;
  const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
  return (
    <pre class="body-box" tabindex={0} role="region" aria-label="Text">
      <code>{text}</code>
    </pre>
  );
}

interface Scene {
  heading: string;
  action: string;
  dialogue: { character: string; line: string }[];
}

function Script({ synopsis, scenes }: { synopsis: string; scenes: readonly Scene[] }) {
  return (
    <div class="stack script">
      <p class="soft">{synopsis}</p>
      <ol class="stack">
        {scenes.map(({ heading, action, dialogue }) => (
          <li class="stack-s">
            <strong>{heading}</strong>
            <p>{action}</p>
            {dialogue.map(({ character, line }) => (
              <p class="script-line">
                <span class="strong">{character}</span> {line}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </div>
  );
}

interface Role {
  name: string;
  looks: string;
}

function Roles({ characters }: { characters: readonly Role[] }) {
  return (
    <dl class="facts">
      {characters.map(({ name, looks }) => (
        <>
          <dt>{name}</dt>
          <dd>{looks}</dd>
        </>
      ))}
    </dl>
  );
}

/** The path of a result: the API may have another host name, and pages load from their own origin only. */
function localPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

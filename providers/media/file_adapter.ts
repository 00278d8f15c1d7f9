import { ApiError } from "../../src/lib/api_error.ts";
import type {
  Operation,
  UpstreamFault,
  UpstreamReply,
  UpstreamTarget,
} from "../../src/upstream/adapter.ts";
import type {
  JobStatus,
  MediaAdapter,
  MediaJob,
  MediaJobType,
  MediaRequest,
} from "../../src/upstream/media_adapter.ts";
import { compileFaults, type ErrorRules } from "../dialect/faults.ts";
import { text } from "../dialect/json.ts";
import { follow, pointer } from "../dialect/pointer.ts";
import type { ConnectionRules, MediaRules, RequestRules } from "./media_file.ts";
import { compileExpression, type Evaluate, type Maps } from "./expression.ts";
import { handleOf } from "./inputs.ts";
import { compileReading, jsonOf, type Reading } from "./reading.ts";
import { authOf, type CompiledRequest, compileRequest, type RequestRoot } from "./request.ts";

type Media = Readonly<Partial<Record<MediaJobType, MediaAdapter>>>;

/** Fields that a client can have sent. */
const CLIENT_FIELDS: ReadonlySet<string> = new Set(
  ["prompt", "input", "size", "n", "duration", "aspect_ratio", "input_images", "voice", "speed"],
);

export interface MediaProvider extends ConnectionRules {
  readonly errors?: ErrorRules;
  readonly media?: Readonly<Partial<Record<MediaJobType, MediaRules>>>;
}

/** The adapters that the `media` of a provider's file describes. */
export function mediaAdapters(provider: MediaProvider): Media {
  return Object.fromEntries(
    Object.entries(provider.media ?? {}).map(([type, rules]) => [
      type,
      mediaAdapter(provider, rules),
    ]),
  );
}

export function mediaAdapter(provider: MediaProvider, rules: MediaRules): MediaAdapter {
  const maps: Maps = rules.maps ?? {};
  const faults = compileFaults(provider.errors, (param) => param, CLIENT_FIELDS);
  const fault = (status: number, body: unknown) => withFieldOnly(faults.read(status, body));
  const compiler: Compiler = {
    maps,
    reading: compileReading({
      rules,
      maps,
      classify: (error) => withFieldOnly(faults.classify(0, error)),
    }),
    fault,
    request: (written, method) => compileRequest(written, provider, maps, method),
    expression: (written) => compileExpression(written, maps),
  };
  return {
    inputs: rules.inputs ?? "url",
    polling: {
      firstMs: (rules.polling?.first_seconds ?? 2) * 1000,
      maxMs: (rules.polling?.max_seconds ?? 10) * 1000,
    },
    ...compileSubmission(rules, compiler),
    ...compilePolling(rules, compiler),
    ...compileCancellation(rules, compiler),
    ...compileFind(rules, compiler),
    ...compileCallback(rules, compiler),
    fault,
    isDeclined: (status, body) => faults.isDeclined(status, body),
    keyHeaders: (target) => authOf(provider, target),
  };
}

/** Compiles what a provider's file contains for one type of job. */
interface Compiler {
  readonly maps: Maps;
  readonly reading: Reading;
  fault(status: number, body: unknown): UpstreamFault;
  request(written: RequestRules, method: "GET" | "POST"): CompiledRequest;
  expression(written: string): Evaluate;
}

function compileSubmission(
  rules: MediaRules,
  { maps, reading, request, expression }: Compiler,
): Pick<MediaAdapter, "prepare" | "submit"> {
  const preparations = Object.entries(rules.prepare ?? {}).map(([name, written]) => ({
    name,
    request: request(written, "POST"),
  }));
  const submissions = [rules.submit].flat().map((written) =>
    request(written as RequestRules, "POST")
  );
  const idAt = rules.id === undefined ? null : expression(rules.id);
  const submit: MediaAdapter["submit"] = {
    async write({ job, prepared }, target) {
      const given = rootOf(job, target, maps);
      const needed = await preparationsFor(preparations, given);
      const root = { ...given, prepared: repliesByName(needed, prepared) };
      const { extraBody } = target;
      for (const submission of submissions) {
        if (await submission.fits(root)) return await submission.write(root, target, extraBody);
      }
      throw new ApiError("capability_not_supported", "This model cannot do this.");
    },
    async read(reply, target, { job }) {
      const bound = { model: target.model, parameters: job.parameters };
      if (idAt === null) {
        return { id: null, status: await reading.status("succeeded", reply, target, bound) };
      }
      const id = idOf(await idAt(reply.body, bound));
      if (id === null) throw new TypeError("the reply names no job");
      return { id };
    },
  };
  if (preparations.length === 0) return { submit };
  return {
    submit,
    async prepare(job, target) {
      const root = rootOf(job, target, maps);
      const needed = await preparationsFor(preparations, root);
      return await Promise.all(needed.map((one) => one.request.write(root, target)));
    },
  };
}

function compilePolling(
  { poll, result }: MediaRules,
  compiler: Compiler,
): Pick<MediaAdapter, "poll" | "result"> {
  const { reading } = compiler;
  return {
    ...(poll === undefined ? {} : {
      poll: {
        write: compileJobRequest(compiler, poll, "GET"),
        async read(reply, target, id) {
          const bound = { id, model: target.model };
          // A job in an unknown state has not ended: it is polled until its deadline.
          const state = await reading.state(reply, bound) ?? "running";
          if (state === "succeeded" && result !== undefined) return { state: "result" };
          return await reading.status(state, reply, target, bound);
        },
        ...failedOn(compiler, poll.failed_on),
      },
    }),
    ...(result === undefined ? {} : {
      result: {
        write: compileJobRequest(compiler, result, "GET"),
        read: (reply, target, id) =>
          reading.status("succeeded", reply, target, { id, model: target.model }),
        ...failedOn(compiler, result.failed_on),
      },
    }),
  };
}

/** Statuses by which a provider reports that the job failed, not the request. */
function failedOn(
  { fault }: Compiler,
  statuses: readonly number[] | undefined,
): Pick<Operation<string, JobStatus>, "readStatus"> {
  const failed = new Set(statuses);
  return {
    readStatus: (status, body) =>
      failed.has(status) ? { state: "failed", fault: fault(status, body) } : undefined,
  };
}

function compileCancellation(
  { cancel }: MediaRules,
  compiler: Compiler,
): Pick<MediaAdapter, "cancel"> {
  if (cancel === undefined) return {};
  return {
    cancel: {
      write: compileJobRequest(compiler, cancel, "POST"),
      async read(reply) {
        if (cancel.confirms === true) return { state: "cancelled", usage: null };
        const state = jsonOf(reply) === undefined ? null : await compiler.reading.state(reply, {});
        return state === "cancelled" ? { state, usage: null } : null;
      },
    },
  };
}

function compileFind(
  { find }: MediaRules,
  { request, expression }: Compiler,
): Pick<MediaAdapter, "find"> {
  if (find === undefined) return {};
  const compiled = request(find, "GET");
  const idAt = expression(find.id);
  const list = find.list === undefined ? null : pointer(find.list);
  const none = new Set(find.none_on);
  return {
    find: {
      write: (reference, target) => compiled.write({ model: target.model, reference }, target),
      async read(reply, _, reference) {
        const id = idOf(await idAt(jsonOf(reply), { reference }));
        // Null lets the job be submitted again: the response must prove it with a list that lacks the job.
        if (id === null && (list === null || !Array.isArray(follow(jsonOf(reply), list)))) {
          throw new TypeError("the reply lists no jobs");
        }
        return id;
      },
      readStatus: (status) => none.has(status) ? null : undefined,
    },
  };
}

function compileCallback(
  { callback }: MediaRules,
  { expression }: Compiler,
): Pick<MediaAdapter, "readCallback"> {
  if (callback === undefined) return {};
  const idAt = expression(callback);
  return { readCallback: async (body) => idOf(await idAt(body)) };
}

/** A request about a job whose id is known. */
function compileJobRequest(
  { request }: Compiler,
  written: RequestRules,
  method: "GET" | "POST",
): (id: string, target: UpstreamTarget) => Promise<MediaRequest> {
  const compiled = request(written, method);
  return (id, target) => compiled.write({ model: target.model, id }, target);
}

/** Keeps the name of the client's field only: the rest of the path is the provider's own wording. */
function withFieldOnly({ kind, param }: UpstreamFault): UpstreamFault {
  return param === undefined ? { kind } : { kind, param: /^[a-z_]*/.exec(param)![0] };
}

interface Preparation {
  readonly name: string;
  readonly request: CompiledRequest;
}

/** The preparations that this job needs. */
async function preparationsFor(
  preparations: readonly Preparation[],
  root: RequestRoot,
): Promise<readonly Preparation[]> {
  const fits = await Promise.all(preparations.map(({ request }) => request.fits(root)));
  return preparations.filter((_, at) => fits[at]);
}

function repliesByName(
  preparations: readonly Preparation[],
  replies: readonly UpstreamReply[],
): Record<string, unknown> {
  return Object.fromEntries(preparations.map(({ name }, at) => [name, replies[at]?.body]));
}

/** The values that expressions of a submission can read. Null becomes undefined, so that it is left out. */
function rootOf(job: MediaJob, target: UpstreamTarget, maps: Maps): RequestRoot {
  return {
    model: target.model,
    type: job.type,
    reference: job.reference,
    prompt: job.prompt ?? undefined,
    parameters: job.parameters,
    inputs: job.inputs.map(handleOf),
    callback_url: job.callbackUrl ?? undefined,
    maps,
    prepared: {},
  };
}

/** An id as text; some providers send numbers. Null for an id that would leave its place in a path. */
function idOf(value: unknown): string | null {
  const id = typeof value === "number" ? String(value) : text(value);
  return id === null || /^\.{0,2}$/.test(id) || id.length > 512 ? null : id;
}

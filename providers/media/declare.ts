import { ApiError } from "../../src/lib/api_error.ts";
import type { UpstreamFault, UpstreamTarget } from "../../src/upstream/adapter.ts";
import type {
  MediaAdapter,
  MediaJob,
  MediaJobType,
  MediaReply,
} from "../../src/upstream/media_adapter.ts";
import { declareFaults, type ErrorRules } from "../dialect/faults.ts";
import { text } from "../dialect/json.ts";
import { follow, pointer } from "../dialect/pointer.ts";
import type { MediaDeclaration, ProviderGround, RequestDeclaration } from "./declaration.ts";
import { compileExpression, type Maps } from "./expression.ts";
import { handleOf } from "./inputs.ts";
import { compileReading, jsonOf } from "./reading.ts";
import { authOf, type CompiledRequest, compileRequest, type RequestRoot } from "./request.ts";

type Media = Readonly<Partial<Record<MediaJobType, MediaAdapter>>>;

/** Fields that a client of ours can have sent. */
const CLIENT_FIELDS: ReadonlySet<string> = new Set(
  ["prompt", "input", "size", "n", "duration", "aspect_ratio", "input_images", "voice", "speed"],
);

export interface MediaProvider extends ProviderGround {
  readonly errors?: ErrorRules;
  readonly media?: Readonly<Partial<Record<MediaJobType, MediaDeclaration>>>;
}

/** The adapters that the `media` of a provider's file describes. */
export function mediaAdapters(provider: MediaProvider): Media {
  return Object.fromEntries(
    Object.entries(provider.media ?? {}).map(([type, declared]) => [
      type,
      mediaAdapter(provider, declared),
    ]),
  );
}

export function mediaAdapter(provider: MediaProvider, declared: MediaDeclaration): MediaAdapter {
  const maps: Maps = declared.maps ?? {};
  const faults = declareFaults(provider.errors, (param) => param, CLIENT_FIELDS);
  const judge = (error: Readonly<Record<string, unknown>>) => plainly(faults.judge(0, error));
  const reading = compileReading({ declared, maps, judge });
  const request = (written: RequestDeclaration, method: "GET" | "POST") =>
    compileRequest(written, provider, maps, method);
  const expression = (written: string) => compileExpression(written, maps);

  const preparations = Object.entries(declared.prepare ?? {}).map(([name, written]) => ({
    name,
    request: request(written, "POST"),
  }));
  const submissions = [declared.submit].flat().map((written) =>
    request(written as RequestDeclaration, "POST")
  );
  const idAt = declared.id === undefined ? null : expression(declared.id);
  const { poll, result, cancel, find, callback } = declared;

  /** A request about a job that is known by its id. */
  const aboutJob = (written: RequestDeclaration, method: "GET" | "POST") => {
    const compiled = request(written, method);
    return (id: string, target: UpstreamTarget) =>
      compiled.write({ model: target.model, id }, target);
  };
  const failedOn = {
    poll: new Set(poll?.failed_on),
    result: new Set(result?.failed_on),
    find: new Set(find?.none_on),
  };

  const adapter: MediaAdapter = {
    inputs: declared.inputs ?? "url",
    polling: {
      firstMs: (declared.polling?.first_seconds ?? 2) * 1000,
      maxMs: (declared.polling?.max_seconds ?? 10) * 1000,
    },
    async submit(job, target, prepared) {
      const made = preparedBy(await fitting(preparations, job, target), prepared);
      const root = { ...rootOf(job, target, made), maps };
      const { extraBody } = target;
      for (const submission of submissions) {
        if (await submission.fits(root)) return await submission.write(root, target, extraBody);
      }
      throw new ApiError("capability_not_supported", "This model cannot do this.");
    },
    async readSubmitted(reply, job, target) {
      const bound = { model: target.model, parameters: job.parameters };
      if (idAt === null) {
        return { id: null, status: await reading.seen("succeeded", reply, target, bound) };
      }
      const id = idOf(await idAt(reply.body, bound));
      if (id === null) throw new TypeError("the reply names no job");
      return { id };
    },
    fault: (status, body) => plainly(faults.read(status, body)),
    isDeclined: (status, body) => faults.isDeclined(status, body),
    keyHeaders: (target) => authOf(provider, target),
    isFinal: (step, status) => failedOn[step].has(status),
  };
  if (preparations.length > 0) {
    adapter.prepare = async (job, target) => {
      const root = { ...rootOf(job, target, {}), maps };
      const fit = await fitting(preparations, job, target);
      return await Promise.all(fit.map((one) => one.request.write(root, target)));
    };
  }
  if (poll !== undefined) {
    adapter.poll = aboutJob(poll, "GET");
    adapter.readPolled = async (reply, target, id) => {
      const bound = { id, model: target.model };
      // A state that nobody told us of is no end: the job runs on until its deadline.
      const state = await reading.state(reply, bound) ?? "running";
      if (state === "succeeded" && result !== undefined) return { state: "result" };
      return await reading.seen(state, reply, target, bound);
    };
  }
  if (result !== undefined) {
    adapter.result = aboutJob(result, "GET");
    adapter.readResult = (reply, target, id) =>
      reading.seen("succeeded", reply, target, { id, model: target.model });
  }
  if (cancel !== undefined) {
    adapter.cancel = aboutJob(cancel, "POST");
    adapter.readCancelled = async (reply) => {
      if (cancel.confirms === true) return { state: "cancelled", usage: null };
      const state = jsonOf(reply) === undefined ? null : await reading.state(reply, {});
      return state === "cancelled" ? { state, usage: null } : null;
    };
  }
  if (find !== undefined) {
    const compiled = request(find, "GET");
    const foundAt = expression(find.id);
    adapter.find = (reference, target) =>
      compiled.write({ model: target.model, reference }, target);
    const list = find.list === undefined ? null : pointer(find.list);
    adapter.readFound = async (reply, reference) => {
      const id = idOf(await foundAt(jsonOf(reply), { reference }));
      // "Nobody has it" lets the job be sent again: that must be said, not guessed from a strange answer.
      if (id === null && (list === null || !Array.isArray(follow(jsonOf(reply), list)))) {
        throw new TypeError("the reply lists no jobs");
      }
      return id;
    };
  }
  if (callback !== undefined) {
    const namedAt = expression(callback);
    adapter.readCallback = async (body) => idOf(await namedAt(body));
  }
  return adapter;
}

/** Names the client's field alone: what follows it is the provider's own wording. */
function plainly({ kind, param }: UpstreamFault): UpstreamFault {
  return param === undefined ? { kind } : { kind, param: /^[a-z_]*/.exec(param)![0] };
}

interface Preparation {
  readonly name: string;
  readonly request: CompiledRequest;
}

async function fitting(
  preparations: readonly Preparation[],
  job: MediaJob,
  target: UpstreamTarget,
): Promise<readonly Preparation[]> {
  const root = rootOf(job, target, {});
  const fits = await Promise.all(preparations.map(({ request }) => request.fits(root)));
  return preparations.filter((_, at) => fits[at]);
}

function preparedBy(
  preparations: readonly Preparation[],
  replies: readonly MediaReply[],
): Record<string, unknown> {
  return Object.fromEntries(preparations.map(({ name }, at) => [name, replies[at]?.body]));
}

/** What expressions of a submission see. Null is nothing to them, so that it is left out. */
function rootOf(
  job: MediaJob,
  target: UpstreamTarget,
  prepared: Record<string, unknown>,
): RequestRoot {
  return {
    model: target.model,
    type: job.type,
    reference: job.reference,
    prompt: job.prompt ?? undefined,
    parameters: job.parameters,
    inputs: job.inputs.map(handleOf),
    callback_url: job.callbackUrl ?? undefined,
    prepared,
  };
}

/** Ids are texts, though some providers count; one that would climb out of a path is none. */
function idOf(value: unknown): string | null {
  const id = typeof value === "number" ? String(value) : text(value);
  return id === null || /^\.{0,2}$/.test(id) || id.length > 512 ? null : id;
}

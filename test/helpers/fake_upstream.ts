import type { ChatRequest, EmbeddingRequest, UpstreamFault } from "../../src/upstream/adapter.ts";
import type { MediaInput, MediaJobType } from "../../src/upstream/media_adapter.ts";

/** What a provider answers, as its documentation shows it. */
export interface RecordedReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON body. */
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly text?: string;
  /** A stream; a string is sent as a line of its own, such as a comment. */
  readonly events?: readonly (RecordedEvent | string)[];
}

export interface RecordedEvent {
  readonly event?: string;
  /** A string is sent as it is, anything else as JSON. */
  readonly data: unknown;
}

/** One exchange: what a client asks, what the provider must see, answers, and what is made of it. */
export interface RecordedCase {
  readonly name: string;
  readonly request: ChatRequest;
  /** What the provider calls the model, where it is not the file's. */
  readonly model?: string;
  readonly max_output_tokens?: number;
  /** Left out where the request is not what the case is about. A header that is null must be absent. */
  readonly sent?: {
    readonly path: string;
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body: unknown;
  };
  readonly reply: RecordedReply;
  /** What the reply means: an answer, what a stream adds up from, or why there is none. */
  readonly read?: unknown;
  readonly chunks?: readonly unknown[];
  readonly fault?: UpstreamFault;
  /** The answer is none that can be read. */
  readonly unreadable?: true;
}

export interface RecordedFile {
  /** The path of the configured base URL, after the server's address. */
  readonly base_path: string;
  readonly model: string;
  readonly cases: readonly RecordedCase[];
}

/** A provider's jobs: each case is a walk through some of the calls a gateway makes. */
export interface RecordedMediaFile {
  readonly base_path: string;
  readonly type: MediaJobType;
  readonly model: string;
  readonly cases: readonly RecordedJob[];
}

export interface RecordedJob {
  readonly name: string;
  readonly model?: string;
  readonly extra_body?: Readonly<Record<string, unknown>>;
  readonly prompt?: string;
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** Texts stand for the files' bytes; `url` is left out where the gateway has no public address. */
  readonly inputs?: readonly {
    role: MediaInput["role"];
    text: string;
    url?: string;
    mime?: string;
  }[];
  readonly callback_url?: string;
  readonly steps: readonly RecordedStep[];
}

/** One verb of `MediaCalls`; `{url}` in replies and results is the provider's address. */
export interface RecordedStep {
  readonly do: "submit" | "poll" | "cancel" | "find" | "fetch" | "callback";
  /** What `callback` is given. */
  readonly body?: unknown;
  readonly exchanges?: readonly { readonly sent?: RecordedSent; readonly reply: RecordedReply }[];
  /** The verb's result; bytes are told as text. */
  readonly gives?: unknown;
  /** Or its failure. */
  readonly fails?: { readonly kind: string; readonly received: string; readonly param?: string };
}

export interface RecordedSent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
  /** Fields of a multipart body; a file is told as its text. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  readonly text?: string;
}

/** A provider's embeddings. */
export interface RecordedEmbeddingFile {
  readonly base_path: string;
  readonly model: string;
  readonly cases: readonly RecordedEmbeddings[];
}

export interface RecordedEmbeddings
  extends Pick<RecordedCase, "name" | "sent" | "reply" | "fault" | "unreadable"> {
  readonly request: EmbeddingRequest;
  /** What the reply means; vectors are told as their JSON texts. */
  readonly read?: { readonly vectors: readonly string[]; readonly tokens: number | null };
  /** The field for which the adapter refuses the request. */
  readonly refused?: string;
}

const PROVIDERS = new URL("../../providers/", import.meta.url);
const EMBEDDINGS = "embeddings.json";

/** The recorded chats of a provider, by file; none where it has none. */
export function recordedFiles(provider: string): Map<string, RecordedFile> {
  return filesOf(provider, (name) => !name.startsWith("media_") && name !== EMBEDDINGS);
}

/** The recorded embeddings of a provider; undefined where it has none. */
export function recordedEmbeddings(provider: string): RecordedEmbeddingFile | undefined {
  return filesOf<RecordedEmbeddingFile>(provider, (name) => name === EMBEDDINGS).get(EMBEDDINGS);
}

/** The recorded jobs of a provider, by file. */
export function recordedMediaFiles(provider: string): Map<string, RecordedMediaFile> {
  return filesOf(provider, (name) => name.startsWith("media_"));
}

function filesOf<T>(provider: string, isWanted: (name: string) => boolean): Map<string, T> {
  const folder = new URL(`${provider}/recorded/`, PROVIDERS);
  const files = new Map<string, T>();
  let names: string[];
  try {
    names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter(isWanted).toSorted();
  } catch {
    return files;
  }
  for (const name of names) {
    files.set(name, JSON.parse(Deno.readTextFileSync(new URL(name, folder))));
  }
  return files;
}

/** What the server was sent. */
export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A provider that answers as recorded, over real HTTP. */
export interface FakeUpstream extends AsyncDisposable {
  readonly url: string;
  /** Requests so far, oldest first. */
  readonly seen: readonly SeenRequest[];
  /** What the next requests are answered with; the last one given stays. */
  answer(...replies: readonly RecordedReply[]): void;
}

/** Starts the server. Streams leave it in pieces of `pieceBytes`, wherever that cuts them. */
export function startFakeUpstream(options: { pieceBytes?: number } = {}): FakeUpstream {
  const seen: SeenRequest[] = [];
  let replies: RecordedReply[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    seen.push({ method, headers, path: pathname + search, body: await request.text() });
    const reply = replies.length > 1 ? replies.shift()! : replies[0];
    return reply === undefined
      ? new Response("nothing recorded", { status: 599 })
      : responseOf(reply, options.pieceBytes ?? 1024);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    answer(...given) {
      replies = [...given];
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function responseOf(reply: RecordedReply, pieceBytes: number): Response {
  const { status, headers = {} } = reply;
  if (reply.events !== undefined) {
    return new Response(inPieces(eventText(reply.events), pieceBytes), {
      status,
      headers: { "content-type": "text/event-stream; charset=utf-8", ...headers },
    });
  }
  if (reply.text !== undefined) return new Response(reply.text, { status, headers });
  if (reply.body === undefined) return new Response(null, { status, headers });
  return Response.json(reply.body, { status, headers });
}

/** The stream's text, as it goes over the wire. */
export function eventText(events: readonly (RecordedEvent | string)[]): string {
  return events.map((event) => {
    if (typeof event === "string") return `${event}\n\n`;
    const name = event.event === undefined ? "" : `event: ${event.event}\n`;
    const data = typeof event.data === "string" ? event.data : JSON.stringify(event.data);
    return `${name}data: ${data}\n\n`;
  }).join("");
}

function inPieces(text: string, pieceBytes: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at += pieceBytes));
    },
  });
}

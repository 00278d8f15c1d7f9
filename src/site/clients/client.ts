import type { ModelLimits } from "../../model_types/definition.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import { apiKeyVariable } from "../api_key_variable.ts";

/** What a client needs to know to call a model of this gateway. */
export interface ModelAddress {
  /** The service's name, as clients list it. */
  readonly service: string;
  /** The URL of the API; it ends in /v1. */
  readonly baseUrl: string;
  /** The API key; null: a placeholder stands in its place. */
  readonly key: string | null;
  readonly model: { readonly id: string };
}

/** A model of this gateway and what it can do, to tell which clients can use it. */
export interface ModelConnection extends ModelAddress {
  /** Paths under the base URL that are released. */
  readonly paths: ReadonlySet<string>;
  readonly model: ConnectedModel;
}

export interface ConnectedModel {
  readonly id: string;
  readonly name: string;
  readonly type: ModelType;
  readonly capabilities: ReadonlySet<string>;
  readonly limits: ModelLimits;
  /** A request that the model accepts. */
  readonly example: ExampleRequest;
}

export interface ExampleRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The file that the response is, where it is one. */
  readonly output: string | null;
}

/** Text to copy: a file, a command or a program. */
export interface Snippet {
  readonly language: "sh" | "json" | "toml" | "yaml" | "ts" | "py" | "text";
  /** The file it belongs in, or what has to be installed. */
  readonly note: string;
  readonly text: string;
}

/** A program or library that can be pointed at the gateway. */
export interface Client {
  readonly id: string;
  readonly name: string;
  /** How to set it up; null where it cannot use the model. */
  setUp(connection: ModelConnection): Setup | null;
}

export interface Setup {
  readonly snippets: readonly Snippet[];
  /** What else there is to do, in a sentence. */
  readonly hint?: string;
}

const PLACEHOLDER = "YOUR_API_KEY";

/** The key to write into a file. */
export function writtenKey({ key }: Pick<ModelAddress, "key">): string {
  return key ?? PLACEHOLDER;
}

/** The environment variable that snippets read the key from. */
export function keyVariable({ service }: Pick<ModelAddress, "service">): string {
  return apiKeyVariable(service);
}

/** The base URL for clients that add /v1 themselves, as those of Anthropic do. */
export function rootUrl({ baseUrl }: Pick<ModelAddress, "baseUrl">): string {
  return baseUrl.replace(/\/v1$/, "");
}

/** Whether the model takes part in conversations at the path, with all of the capabilities. */
export function canChat(
  { model, paths }: ModelConnection,
  path: string,
  ...capabilities: string[]
): boolean {
  return model.type === "chat" && paths.has(path) &&
    capabilities.every((each) => model.capabilities.has(each));
}

/** Names that clients have providers of their own under. */
const TAKEN = new Set([
  "openai",
  "anthropic",
  "ollama",
  "lmstudio",
  "amazon-bedrock",
  "openrouter",
]);

/** The name of the gateway in settings of clients: "Acme AI" is `acme-ai`. */
export function providerId({ service }: Pick<ModelAddress, "service">): string {
  const id = service.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(
    /[^a-z0-9]+/g,
    "-",
  )
    .replace(/^-|-$/g, "");
  return id === "" || TAKEN.has(id) ? `${id || "ai"}-gateway` : id;
}

/** Whether the model makes vectors at the path that SDKs call. */
export function embeds({ model, paths }: ModelConnection): boolean {
  return model.type === "embedding" && paths.has("/embeddings");
}

/** Whether requests to the model are answered with a task. */
export function isTask({ type, example }: ConnectedModel): boolean {
  return type !== "chat" && type !== "embedding" && example.output === null;
}

/** Whether the example of the model names files that have to be uploaded first. */
export function takesFiles({ example }: ConnectedModel): boolean {
  return Object.values(example.body).includes("file_…");
}

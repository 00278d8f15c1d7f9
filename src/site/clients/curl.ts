import {
  canChat,
  type Client,
  isTask,
  keyVariable,
  type ModelConnection,
  type Snippet,
  takesFiles,
} from "./client.ts";

type Reached = Pick<ModelConnection, "service" | "baseUrl">;

interface CurlRequest {
  readonly path: string;
  readonly body: unknown;
  readonly output?: string | null;
  readonly headers?: readonly string[];
}

/** A `curl` command that works as it stands, once the API key is in the environment. */
export function curlCommand(
  gateway: Reached,
  { path, body, output, headers = [] }: CurlRequest,
): string {
  const lines = [
    `curl ${gateway.baseUrl}${path}`,
    `  -H "Authorization: Bearer $${keyVariable(gateway)}"`,
    '  -H "Content-Type: application/json"',
    ...headers.map((header) => `  -H "${header}"`),
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ];
  if (output) lines.push(`  -o ${output}`);
  return lines.join(" \\\n");
}

/** The first request that a newcomer sends. */
export function chatCommand(gateway: Reached, model: string): string {
  return curlCommand(gateway, { path: "/chat/completions", body: { model, messages: HELLO } });
}

const HELLO = [{ role: "user", content: "Hello!" }];

/** The APIs for conversations, each with its shortest request. */
const DIALECTS: readonly (readonly [name: string, path: string, body: object])[] = [
  ["Chat Completions", "/chat/completions", { messages: HELLO }],
  ["Responses", "/responses", { input: "Hello!" }],
  ["Messages", "/messages", { max_tokens: 1024, messages: HELLO }],
];

export const curl: Client = {
  id: "curl",
  name: "curl",
  setUp(connection) {
    const { model } = connection;
    if (model.type === "chat") {
      const snippets = DIALECTS.filter(([, path]) => canChat(connection, path))
        .map(([note, path, body]) =>
          shell(note, curlCommand(connection, { path, body: { model: model.id, ...body } }))
        );
      return snippets.length === 0 ? null : { snippets };
    }
    const { path, body, output } = model.example;
    if (!isTask(model)) {
      return { snippets: [shell("", curlCommand(connection, { path, body, output }))] };
    }
    return {
      snippets: [
        ...takesFiles(model)
          ? [shell("Upload files, and use their ids", uploadCommand(connection))]
          : [],
        shell(
          "Submit, and wait a minute at most",
          curlCommand(connection, { path, body, headers: ["Prefer: wait=60"] }),
        ),
        shell("Ask for the task again, by its id", taskCommand(connection)),
      ],
    };
  },
};

function shell(note: string, text: string): Snippet {
  return { language: "sh", note, text };
}

function uploadCommand(gateway: Reached): string {
  return [
    `curl ${gateway.baseUrl}/files`,
    `  -H "Authorization: Bearer $${keyVariable(gateway)}"`,
    "  -F purpose=generation -F file=@portrait.png",
  ].join(" \\\n");
}

function taskCommand(gateway: Reached): string {
  return [
    `curl ${gateway.baseUrl}/tasks/$TASK_ID`,
    `  -H "Authorization: Bearer $${keyVariable(gateway)}"`,
  ].join(" \\\n");
}

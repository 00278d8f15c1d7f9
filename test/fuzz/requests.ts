import { AREAS } from "../../src/http/routes/registry.ts";
import { SAMPLE } from "../../src/http/routes/sample_ids.ts";
import { field, filePart, form, FORM_TYPE } from "../helpers/form.ts";
import { png } from "../helpers/media.ts";

/** A request that an endpoint takes. */
export interface SampleRequest {
  /** `POST /v1/files`; names in braces as the OpenAPI document has them, filled in when it is sent. */
  endpoint: string;
  type: string;
  /** CSRF, IMAGE_FILE and AUDIO_FILE stand for what is known when it is sent. */
  body: Uint8Array;
}

const JSON_TYPE = "application/json";
const WEB_FORM = "application/x-www-form-urlencoded";
const encoder = new TextEncoder();

const json = (endpoint: string, body: unknown): SampleRequest => ({
  endpoint,
  type: JSON_TYPE,
  body: encoder.encode(JSON.stringify(body)),
});
const web = (path: string, fields: Record<string, string>): SampleRequest => ({
  endpoint: `POST ${path}`,
  type: WEB_FORM,
  body: encoder.encode(String(new URLSearchParams({ csrf: "CSRF", ...fields }))),
});

const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string", pattern: "^(a|a)*$" }, days: { enum: [1, 2, 3] } },
  required: ["city"],
};

/** The example of every route that takes a body: what is documented is also fuzzed. */
const EXAMPLES: readonly SampleRequest[] = AREAS.flatMap(({ routes }) => routes)
  .filter(({ method, form }) => (method === "POST" || method === "PUT") && form === undefined)
  .map(({ method, path, operation, example }) => {
    const body = JSON.stringify(example.body ?? {})
      .replaceAll(SAMPLE.image, "IMAGE_FILE").replaceAll(SAMPLE.audio, "AUDIO_FILE");
    const endpoint = `${method} ${operation === undefined ? "" : "/v1"}${path}`;
    return { endpoint, type: JSON_TYPE, body: encoder.encode(body) };
  });

/** The examples, and requests with more fields than they have. */
export const SAMPLE_REQUESTS: readonly SampleRequest[] = [
  ...EXAMPLES,
  json("POST /v1/chat/completions", {
    model: "sim-chat",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hello" }, IMAGE] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{
          id: "c1",
          type: "function",
          function: { name: "weather", arguments: "{}" },
        }],
      },
      { role: "tool", tool_call_id: "c1", content: "rain" },
    ],
    max_tokens: 20,
    temperature: 0.5,
    stop: ["x"],
  }),
  json("POST /v1/embeddings", {
    model: "sim-embedding",
    input: [[1, 2, 3], [4]],
    encoding_format: "base64",
    dimensions: 3,
    user: "u",
    input_type: "query",
  }),
  json("POST /v1/chat/completions", {
    model: "sim-chat",
    messages: [{ role: "user", content: "[[simulate:tokens=5]] Hello" }],
    tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }],
    tool_choice: "auto",
    stream: true,
    stream_options: { include_usage: true },
  }),
  json("POST /v1/chat/completions", {
    model: "sim-chat",
    messages: [{ role: "user", content: "Hello" }],
    response_format: { type: "json_schema", json_schema: { name: "w", schema: PARAMETERS } },
    user: "u",
  }),
  {
    endpoint: "POST /v1/files",
    type: FORM_TYPE,
    body: form([field("purpose", "generation"), filePart(png())]),
  },
  web("/sign-in", { email: "ann@example.com", password: "a guess", return_to: "/console?a=b" }),
  web("/register", { email: "ben@example.com", password: "short", name: "Ben", return_to: "/" }),
  web("/connect/browser-auth", {
    request: "client=cli&response_type=api_key&redirect_uri=http://127.0.0.1:9/callback&state=x",
    decision: "deny",
  }),
  web("/connect/browser-auth/send", { ticket: "t", way: "quiet" }),
  web("/account/name", { name: "Ann" }),
  web("/account/password", { current: "wrong", password: "a long enough password" }),
  web("/account/delete", { confirm: "wrong" }),
  web("/account/identities/remove", { provider: "x" }),
  web("/console/keys", { name: "laptop" }),
  web("/console/models/sim-chat/run", { prompt: "Hello", max_tokens: "5" }),
  web("/console/models/sim-image/quote", { prompt: "a tide", n: "1" }),
  web("/console/webhooks", { url: "https://hooks.invalid/z", description: "" }),
  web("/console/operator/accounts", { name: "b" }),
  web("/console/operator/accounts/x/credits", { kind: "cash", amount: "1", reference: "z" }),
];

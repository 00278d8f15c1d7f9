import type { Model } from "../../platform/config/config.ts";
import { baseUrlOf } from "../base_url.ts";
import type { SiteContext } from "../context.ts";
import { chatCurl } from "../curl_example.ts";
import { CodeBox } from "../parts.tsx";
import { sendDocs } from "./shell.tsx";

/** GET /docs: from nothing to an answer. */
export function quickStart(c: SiteContext): Response {
  const { service } = c.env.config;
  const base = baseUrlOf(c);
  const model = exampleModel(c, "chat");
  return sendDocs(
    c,
    { title: "Quick start" },
    <>
      <section>
        <h1>Quick start</h1>
        <p class="soft">
          {service.name}{" "}
          speaks the OpenAI dialect. If you have code that calls OpenAI, two things change: the base
          address and the key.
        </p>
      </section>
      <section aria-labelledby="key">
        <h2 id="key">1. Get a key</h2>
        <p>
          Make one in the{" "}
          <a href="/console/keys">console</a>. It is shown once; keep it in the environment of your
          server, and out of browsers, apps and repositories.
        </p>
        <CodeBox id="quick-env" text={`export TOLLGATE_API_KEY="sk-…"`} title="Shell" />
      </section>
      <section aria-labelledby="models">
        <h2 id="models">2. See what there is</h2>
        <p>
          Ids, capabilities and limits come from the list. Read them instead of writing them into
          your code: they differ by account, and they change.
        </p>
        <CodeBox
          id="quick-models"
          title="curl"
          text={`curl ${base}/models \\\n  -H "Authorization: Bearer $TOLLGATE_API_KEY"`}
        />
      </section>
      <section aria-labelledby="chat">
        <h2 id="chat">3. Ask something</h2>
        <CodeBox id="quick-curl" title="curl" text={chatCurl(c, model)} />
        <CodeBox
          id="quick-ts"
          title="TypeScript: npm install openai"
          text={typeScript(base, model)}
        />
        <CodeBox id="quick-py" title="Python: pip install openai" text={python(base, model)} />
        <p class="soft">
          Every answer has a header{" "}
          <code>x-request-id</code>. The receipt of that request, with what was held, charged and
          given back, is at <code>GET {new URL(base).pathname}/usage/{"{request_id}"}</code>.
        </p>
      </section>
      <section aria-labelledby="next">
        <h2 id="next">Next</h2>
        <ul class="prose-list">
          <li>
            <a href="/docs/tasks">Pictures, video and speech</a>: submit once, follow, get the
            files.
          </li>
          <li>
            <a href="/docs/webhooks">Webhooks</a>: be told when a task has ended.
          </li>
          <li>
            <a href="/docs/reference">The reference</a>: every call and every field.
          </li>
        </ul>
      </section>
    </>,
  );
}

export function exampleModel(c: SiteContext, type: Model["type"]): string {
  const models = [...c.env.config.models.values()];
  const open = models.filter(({ visibility }) => visibility === "everyone");
  return open.find((model) => model.type === type)?.id ?? "model-id";
}

function typeScript(base: string, model: string): string {
  return `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "${base}",
  apiKey: process.env.TOLLGATE_API_KEY,
});

const stream = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello!" }],
  stream: true,
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? "");
}`;
}

function python(base: string, model: string): string {
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${base}", api_key=os.environ["TOLLGATE_API_KEY"])

stream = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`;
}

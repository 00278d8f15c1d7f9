import type { ModelType } from "../../model_types/model_types.ts";
import { type Client, type ConnectedModel, keyVariable } from "./client.ts";
import { objectLiteral, pythonArguments } from "./literals.ts";
import { HELLO, twoLanguages } from "./two_languages.ts";

/** A call of the OpenAI SDKs, in both languages. */
interface SdkCall {
  /** The only path that the SDKs call for it. */
  readonly path: string;
  /** A line above the program in TypeScript. */
  readonly imports?: string;
  typescript(model: ConnectedModel): string;
  python(model: ConnectedModel): string;
}

const CALLS: Readonly<Partial<Record<ModelType, SdkCall>>> = {
  chat: {
    path: "/chat/completions",
    typescript: ({ id }) =>
      `const completion = await client.chat.completions.create({
  model: ${JSON.stringify(id)},
  messages: ${HELLO.typescript},
});
console.log(completion.choices[0].message.content);`,
    python: ({ id }) =>
      `completion = client.chat.completions.create(
    model=${JSON.stringify(id)},
    messages=${HELLO.python},
)
print(completion.choices[0].message.content)`,
  },
  embedding: {
    path: "/embeddings",
    typescript: ({ example: { body } }) =>
      `const { data } = await client.embeddings.create(${objectLiteral(body)});
console.log(data[0].embedding.length);`,
    python: ({ example: { body } }) =>
      `response = client.embeddings.create(
${pythonArguments(body)})
print(len(response.data[0].embedding))`,
  },
  image: {
    path: "/images/generations",
    typescript: ({ example: { body } }) =>
      `const { data } = await client.images.generate(${
        objectLiteral({ ...body, response_format: "url" })
      });
console.log(data[0].url);`,
    python: ({ example: { body } }) =>
      `response = client.images.generate(
${pythonArguments({ ...body, response_format: "url" })})
print(response.data[0].url)`,
  },
  speech: {
    path: "/audio/speech",
    imports: 'import { writeFile } from "node:fs/promises";\n',
    typescript: ({ example: { body, output } }) =>
      `const speech = await client.audio.speech.create(${objectLiteral(body)});
await writeFile(${JSON.stringify(output)}, speech.body);`,
    python: ({ example: { body, output } }) =>
      `speech = client.audio.speech.create(
${pythonArguments(body)})
speech.write_to_file(${JSON.stringify(output)})`,
  },
};

export const openaiSdk: Client = {
  id: "openai",
  name: "OpenAI SDK",
  setUp(connection) {
    const { model, paths } = connection;
    const call = CALLS[model.type];
    if (call === undefined || !paths.has(call.path)) return null;
    const url = JSON.stringify(connection.baseUrl);
    const variable = keyVariable(connection);
    return twoLanguages(
      [
        "openai",
        `${call.imports ?? ""}import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${url},
  apiKey: process.env.${variable},
});

${call.typescript(model)}`,
      ],
      [
        "openai",
        `import os
from openai import OpenAI

client = OpenAI(base_url=${url}, api_key=os.environ["${variable}"])

${call.python(model)}`,
      ],
    );
  },
};

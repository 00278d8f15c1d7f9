import {
  canChat,
  type Client,
  embeds,
  keyVariable,
  type ModelConnection,
  type Setup,
} from "./client.ts";
import { twoLanguages } from "./two_languages.ts";

/** What differs between conversations and vectors. */
interface Call {
  readonly made: string;
  readonly input: string;
  readonly typescript: { readonly method: string; readonly shown: string };
  readonly python: {
    readonly method: string;
    readonly shown: string;
    readonly options?: string;
  };
}

const CHAT: Call = {
  made: "ChatOpenAI",
  input: "Hello!",
  typescript: { method: "invoke", shown: "answer.text" },
  python: { method: "invoke", shown: "answer.content" },
};

const EMBEDDING: Omit<Call, "input"> = {
  made: "OpenAIEmbeddings",
  typescript: { method: "embedQuery", shown: "answer.length" },
  python: {
    method: "embed_query",
    shown: "len(answer)",
    // Otherwise it sends the tokens of an OpenAI model in place of the text.
    options: "    check_embedding_ctx_length=False,\n",
  },
};

export const langchain: Client = {
  id: "langchain",
  name: "LangChain",
  setUp(connection) {
    if (embeds(connection)) {
      return programs(connection, {
        ...EMBEDDING,
        input: String(connection.model.example.body.input),
      });
    }
    return canChat(connection, "/chat/completions") ? programs(connection, CHAT) : null;
  },
};

function programs(connection: ModelConnection, call: Call): Setup {
  const { made, typescript, python } = call;
  const [id, url, input] = [connection.model.id, connection.baseUrl, call.input]
    .map((text) => JSON.stringify(text));
  const variable = keyVariable(connection);
  return twoLanguages(
    [
      "@langchain/openai @langchain/core",
      `import { ${made} } from "@langchain/openai";

const model = new ${made}({
  model: ${id},
  apiKey: process.env.${variable},
  configuration: { baseURL: ${url} },
});

const answer = await model.${typescript.method}(${input});
console.log(${typescript.shown});`,
    ],
    [
      "langchain-openai",
      `import os
from langchain_openai import ${made}

model = ${made}(
    model=${id},
    base_url=${url},
    api_key=os.environ["${variable}"],
${python.options ?? ""})

answer = model.${python.method}(${input})
print(${python.shown})`,
    ],
  );
}

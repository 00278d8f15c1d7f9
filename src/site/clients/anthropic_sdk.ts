import { canChat, type Client, keyVariable, rootUrl } from "./client.ts";
import { HELLO, twoLanguages } from "./two_languages.ts";

export const anthropicSdk: Client = {
  id: "anthropic",
  name: "Anthropic SDK",
  setUp(connection) {
    if (!canChat(connection, "/messages")) return null;
    const id = JSON.stringify(connection.model.id);
    const url = JSON.stringify(rootUrl(connection));
    const variable = keyVariable(connection);
    return twoLanguages(
      [
        "@anthropic-ai/sdk",
        `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({
  baseURL: ${url},
  apiKey: process.env.${variable},
});

const message = await client.messages.create({
  model: ${id},
  max_tokens: 1024,
  messages: ${HELLO.typescript},
});
console.log(message.content);`,
      ],
      [
        "anthropic",
        `import os
from anthropic import Anthropic

client = Anthropic(base_url=${url}, api_key=os.environ["${variable}"])

message = client.messages.create(
    model=${id},
    max_tokens=1024,
    messages=${HELLO.python},
)
print(message.content)`,
      ],
    );
  },
};

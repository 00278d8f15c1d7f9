import type { Adapter, ChatAdapter } from "../../src/upstream/adapter.ts";
import { type ProviderDeclaration, readProvider } from "./declaration.ts";
import { declareFaults } from "./faults.ts";
import { endingReader } from "./finish.ts";
import { chunkReader, type Dialect, readReply } from "./read.ts";
import { usageReader } from "./usage.ts";
import { requestWriter } from "./write.ts";

/**
 * The adapter that a `provider.yaml` describes. The file is read when the adapter is first used.
 * `announced` are types whose operations come with later releases.
 */
export function declaredAdapter(
  file: string,
  source: string,
  ...announced: Adapter["types"]
): Adapter {
  return openedLater(["chat", ...announced], () => adapterOf(readProvider(file, source)));
}

export function adapterOf(declared: ProviderDeclaration): Adapter {
  return { types: ["chat"], baseUrl: declared.base_url ?? null, chat: chatAdapter(declared) };
}

export function chatAdapter(declared: ProviderDeclaration): ChatAdapter {
  const clientNames = new Map(
    Object.entries(declared.parameters?.rename ?? {}).map(([client, provider]) => [
      provider,
      client,
    ]),
  );
  const faults = declareFaults(declared.errors, (param) => clientNames.get(param) ?? param);
  const dialect: Dialect = {
    faults,
    usage: usageReader(declared.usage),
    ending: endingReader(declared.finish_reasons),
    reasoning: declared.reasoning ?? ["reasoning_content", "reasoning"],
  };
  return {
    write: requestWriter(declared),
    read: (body) => readReply(dialect, body),
    reader: () => chunkReader(dialect),
    fault: faults.read,
  };
}

/** Most declarations name few of the shipped providers: the others cost nothing at start. */
export function openedLater(types: Adapter["types"], open: () => Adapter): Adapter {
  let opened: Adapter | undefined;
  return {
    types,
    get baseUrl() {
      return (opened ??= open()).baseUrl;
    },
    get chat() {
      return (opened ??= open()).chat;
    },
  };
}

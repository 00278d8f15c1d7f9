import type { Adapter, ChatAdapter } from "../../src/upstream/adapter.ts";
import type { MediaJobType } from "../../src/upstream/media_adapter.ts";
import { mediaAdapters } from "../media/declare.ts";
import { type ProviderFile, readProvider } from "./provider_file.ts";
import { declareFaults } from "./faults.ts";
import { endingReader } from "./finish.ts";
import { imageCounter } from "./image_tokens.ts";
import { chunkReader, type Dialect, readReply } from "./read.ts";
import { usageReader } from "./usage.ts";
import { requestWriter } from "./write.ts";

/** The adapter that a `provider.yaml` describes. The file is read when the adapter is first used. */
export function declaredAdapter(
  file: string,
  source: string,
  types: Adapter["types"] = ["chat"],
): Adapter {
  return openedLater(types, () => adapterOf(readProvider(file, source)));
}

export function adapterOf(declared: ProviderFile): Adapter {
  const { base_url, media, chat = media === undefined } = declared;
  const made = Object.keys(media ?? {}) as MediaJobType[];
  return {
    types: [...chat ? ["chat" as const] : [], ...made],
    baseUrl: base_url ?? null,
    ...(chat ? { chat: chatAdapter(declared) } : {}),
    ...(media === undefined ? {} : { media: mediaAdapters(declared) }),
  };
}

export function chatAdapter(declared: ProviderFile): ChatAdapter {
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
    imageTokens: imageCounter(declared.image_tokens),
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
    get media() {
      return (opened ??= open()).media;
    },
  };
}

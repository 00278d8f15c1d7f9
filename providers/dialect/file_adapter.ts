import type { Adapter, ChatAdapter } from "../../src/upstream/adapter.ts";
import type { MediaJobType } from "../../src/upstream/media_adapter.ts";
import { mediaAdapters } from "../media/file_adapter.ts";
import { type ProviderFile, readProvider } from "./provider_file.ts";
import { compileFaults } from "./faults.ts";
import { endingReader } from "./finish.ts";
import { imageCounter } from "./image_tokens.ts";
import { chunkReader, type Dialect, readReply } from "./read.ts";
import { usageReader } from "./usage.ts";
import { requestWriter, takenExtras } from "./write.ts";

/** The adapter that a `provider.yaml` describes. The file is parsed when the adapter is first used. */
export function fileAdapter(
  file: string,
  source: string,
  types: Adapter["types"] = ["chat"],
): Adapter {
  return openedLater(types, () => adapterOf(readProvider(file, source)));
}

export function adapterOf(file: ProviderFile): Adapter {
  const { base_url, media, chat = media === undefined } = file;
  const made = Object.keys(media ?? {}) as MediaJobType[];
  return {
    types: [...chat ? ["chat" as const] : [], ...made],
    baseUrl: base_url ?? null,
    ...(chat ? { chat: chatAdapter(file) } : {}),
    ...(media === undefined ? {} : { media: mediaAdapters(file) }),
  };
}

export function chatAdapter(file: ProviderFile): ChatAdapter {
  const clientNames = new Map(
    Object.entries(file.parameters?.rename ?? {}).map(([client, provider]) => [
      provider,
      client,
    ]),
  );
  const faults = compileFaults(file.errors, (param) => clientNames.get(param) ?? param);
  const dialect: Dialect = {
    faults,
    usage: usageReader(file.usage),
    ending: endingReader(file.finish_reasons),
    reasoning: file.reasoning ?? ["reasoning_content", "reasoning"],
  };
  return {
    write: requestWriter(file),
    read: ({ body }) => readReply(dialect, body),
    reader: () => chunkReader(dialect),
    fault: faults.read,
    extras: takenExtras(file.parameters),
    imageTokens: imageCounter(file.image_tokens),
  };
}

/** Opens the adapter at its first use: most configurations name few of the shipped providers. */
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

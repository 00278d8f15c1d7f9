import { invalidField, type JsonFields, notSupported, objectAt, textAt } from "../translated.ts";

/** A content part of the engine. */
export type Part = JsonFields;

/** `cache_control` of a block, to be kept on what is made of it. */
export function cacheMark({ cache_control }: JsonFields): JsonFields {
  return cache_control === undefined || cache_control === null ? {} : { cache_control };
}

/** Content that a user or a tool may send: text, images, documents, search results. */
export function readContent(content: unknown, param: string): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw invalidField(param, "must be a string or a list of blocks");
  return content.flatMap((block, at) =>
    readBlock(objectAt(block, `${param}.${at}`), `${param}.${at}`)
  );
}

export function readBlock(block: JsonFields, param: string): Part[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: textAt(block, "text", param), ...cacheMark(block) }];
    case "image":
      return [{
        type: "image_url",
        image_url: { url: imageUrl(block, param) },
        ...cacheMark(block),
      }];
    case "document":
      return withMark(readDocument(block, param), block);
    case "search_result":
      return withMark(readSearchResult(block, param), block);
    default:
      throw notSupported(
        `${param}.type`,
        `is ${
          JSON.stringify(String(block.type).slice(0, 64))
        }, which this service does not take here`,
      );
  }
}

/** The last part has the mark: the cache ends behind the block. */
function withMark(parts: Part[], block: JsonFields): Part[] {
  const last = parts.pop();
  return last === undefined ? [] : [...parts, { ...last, ...cacheMark(block) }];
}

function imageUrl(block: JsonFields, param: string): string {
  const source = objectAt(block.source, `${param}.source`);
  if (source.type === "url") return textAt(source, "url", `${param}.source`);
  if (source.type === "base64") return dataUrlOf(source, `${param}.source`);
  throw notSupported(`${param}.source.type`, "must be base64 or url");
}

function dataUrlOf(source: JsonFields, param: string): string {
  return `data:${textAt(source, "media_type", param)};base64,${textAt(source, "data", param)}`;
}

function readDocument(block: JsonFields, param: string): Part[] {
  const source = objectAt(block.source, `${param}.source`);
  const title = typeof block.title === "string" ? block.title : null;
  const context = typeof block.context === "string" ? block.context : null;
  const about = [title, context].filter((text) => text !== null).map((text) => ({
    type: "text",
    text,
  }));
  switch (source.type) {
    case "base64":
      return [{
        type: "file",
        file: {
          filename: title ?? "document.pdf",
          file_data: dataUrlOf(source, `${param}.source`),
        },
      }];
    case "text":
      return [...about, { type: "text", text: textAt(source, "data", `${param}.source`) }];
    case "content":
      return [...about, ...readContent(source.content, `${param}.source.content`)];
    default:
      throw notSupported(`${param}.source.type`, "must be base64, text or content");
  }
}

function readSearchResult(block: JsonFields, param: string): Part[] {
  const head = `${textAt(block, "title", param)}\n${textAt(block, "source", param)}`;
  return [{ type: "text", text: head }, ...readContent(block.content, `${param}.content`)];
}

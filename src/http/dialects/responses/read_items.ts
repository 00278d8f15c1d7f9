import { invalidField, type JsonFields, notSupported, objectAt, textAt } from "../translated.ts";
import { wrapInput } from "./custom_tools.ts";
import { readPart, readParts } from "./read_parts.ts";
import { nameInside } from "./read_tools.ts";
import type { ReasoningBox } from "./reasoning_box.ts";

/** An item of a conversation, and where the client wrote it. */
export interface PlacedItem {
  readonly item: unknown;
  readonly path: string;
}

interface ReadMessage {
  readonly message: JsonFields;
  readonly path: string;
}

/** What the assistant said and called in one turn. */
interface AssistantTurn {
  readonly path: string;
  readonly parts: JsonFields[];
  readonly calls: JsonFields[];
}

/**
 * Makes messages of items. Reasoning, text and calls of the assistant that follow each other are one message: their
 * results follow it.
 */
export class ItemReader {
  readonly #messages: ReadMessage[] = [];
  #turn: AssistantTurn | null = null;

  constructor(private readonly box: ReasoningBox) {}

  add({ item: value, path }: PlacedItem): void {
    const item = objectAt(value, path);
    switch (item.type ?? "message") {
      case "message":
        return this.#message(item, path);
      case "reasoning":
        this.#said(path).parts.push(...this.#reasoning(item));
        return;
      case "function_call":
        return this.#call(item, path, textAt(item, "arguments", path));
      case "custom_tool_call":
        return this.#call(item, path, wrapInput(textAt(item, "input", path)));
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#push(readResult(item, path), path);
      default:
        throw notSupported(
          `${path}.type`,
          `is ${JSON.stringify(String(item.type).slice(0, 64))}, which this service does not take`,
        );
    }
  }

  end(): ReadMessage[] {
    this.#endTurn();
    return this.#messages;
  }

  #message(item: JsonFields, path: string): void {
    const { role, content } = item;
    if (role === "assistant") {
      this.#said(path).parts.push(...readParts(content, `${path}.content`));
      return;
    }
    if (role !== "user" && role !== "system" && role !== "developer") {
      throw invalidField(`${path}.role`, "must be user, assistant, system or developer");
    }
    const isText = typeof content === "string";
    this.#push({ role, content: isText ? content : readParts(content, `${path}.content`) }, path);
  }

  #call(item: JsonFields, path: string, written: string): void {
    this.#said(path).calls.push({
      id: textAt(item, "call_id", path),
      type: "function",
      function: {
        name: nameInside(item.namespace, textAt(item, "name", path)),
        arguments: written,
      },
    });
  }

  /** Reasoning as it was; of a client that has no encrypted content, its summary. */
  #reasoning({ encrypted_content: content, summary }: JsonFields): readonly JsonFields[] {
    const parts = typeof content === "string" ? this.box.open(content) : null;
    if (parts !== null) return parts as unknown as JsonFields[];
    const texts = Array.isArray(summary) ? summary.map((part) => part?.text) : [];
    const thinking = texts.filter((text) => typeof text === "string").join("\n\n");
    return thinking === "" ? [] : [{ type: "thinking", thinking }];
  }

  #said(path: string): AssistantTurn {
    // After its calls the assistant speaks again only when it has their results: another message.
    return this.#turn ??= { path, parts: [], calls: [] };
  }

  #push(message: JsonFields, path: string): void {
    this.#endTurn();
    this.#messages.push({ message, path });
  }

  #endTurn(): void {
    if (this.#turn === null) return;
    const { path, parts, calls } = this.#turn;
    this.#turn = null;
    const isEmpty = parts.length === 0;
    const content = isEmpty && calls.length > 0 ? {} : { content: isEmpty ? "" : shortest(parts) };
    const tool_calls = calls.length > 0 ? { tool_calls: calls } : {};
    this.#messages.push({ message: { role: "assistant", ...content, ...tool_calls }, path });
  }
}

/** A text alone is sent as a string: not every server takes parts. */
function shortest(parts: readonly JsonFields[]): string | readonly JsonFields[] {
  const [first] = parts;
  return parts.length === 1 && first!.type === "text" ? first!.text as string : parts;
}

function readResult(item: JsonFields, path: string): JsonFields {
  const { output } = item;
  const content = Array.isArray(output)
    ? output.map((part, at) =>
      readPart(objectAt(part, `${path}.output.${at}`), `${path}.output.${at}`)
    )
    : textAt(item, "output", path);
  return { role: "tool", tool_call_id: textAt(item, "call_id", path), content };
}

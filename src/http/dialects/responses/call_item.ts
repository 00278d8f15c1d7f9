import type { StreamedCall } from "../call_queue.ts";
import { unwrapInput } from "./custom_tools.ts";
import type { DeclaredTool } from "./read_tools.ts";
import type { Emit, ItemPlace, ItemStatus, OpenItem } from "./output_items.ts";

interface FunctionCall {
  readonly id: string;
  readonly type: "function_call";
  status: "in_progress" | ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  arguments: string;
}

interface CustomCall {
  readonly id: string;
  readonly type: "custom_tool_call";
  status: "in_progress" | ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  input: string;
}

/** A call of a tool. The text of a custom tool is known when its arguments are complete. */
export class CallItem implements OpenItem {
  readonly index: number;
  readonly item: FunctionCall | CustomCall;
  #written = "";

  constructor(
    private readonly place: ItemPlace,
    { index, id: call_id }: StreamedCall,
    { name, namespace, isCustom }: DeclaredTool,
    private readonly emit: Emit,
  ) {
    this.index = index;
    const head = {
      id: place.item_id,
      status: "in_progress" as const,
      call_id,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    };
    this.item = isCustom
      ? { ...head, type: "custom_tool_call", input: "" }
      : { ...head, type: "function_call", arguments: "" };
  }

  addArguments(delta: string): void {
    this.#written += delta;
    if (this.item.type === "custom_tool_call" || delta === "") return;
    this.item.arguments += delta;
    this.#emit("response.function_call_arguments.delta", { delta });
  }

  end(status: ItemStatus): void {
    if (this.item.type === "custom_tool_call") {
      const input = unwrapInput(this.#written);
      this.item.input = input;
      if (input !== "") this.#emit("response.custom_tool_call_input.delta", { delta: input });
      this.#emit("response.custom_tool_call_input.done", { input });
    } else {
      // Clients parse the arguments.
      if (this.item.arguments === "") this.item.arguments = "{}";
      const { name, arguments: written } = this.item;
      this.#emit("response.function_call_arguments.done", { name, arguments: written });
    }
    this.item.status = status;
  }

  #emit(type: string, fields: object): void {
    this.emit(type, { ...this.place, ...fields });
  }
}

import { ApiError } from "../../lib/api_error.ts";
import type { Attributes, Span } from "./span.ts";

/** Runs a step as a span of `parent`. Without one, which is the usual case, it only runs it. */
export function traced<T>(
  parent: Span | null,
  name: string,
  run: () => T,
  attributes?: Attributes,
): T {
  if (parent === null) return run();
  const span = parent.start(name, attributes === undefined ? {} : { attributes });
  try {
    const result = run();
    if (result instanceof Promise) return endLater(span, result) as T;
    span.end();
    return result;
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
}

async function endLater<T>(span: Span, result: Promise<T>): Promise<T> {
  try {
    const value = await result;
    span.end();
    return value;
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
}

/** Ends a span with the code of an error, or its class: its text may hold anything. */
export function endFailed(span: Span, error: unknown): void {
  span.fail(reasonOf(error));
  span.end();
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return error.code;
  return error instanceof Error ? error.name : "error";
}

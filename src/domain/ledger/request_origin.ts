import type { Span } from "../../platform/tracing/span.ts";

/** Names and values that the client gave to a request. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Whom a request is for and where it was made, as its receipt keeps it. */
export interface RequestOrigin {
  /** The id of the API key; null for a request made in the console. */
  readonly key: string | null;
  /** The fields `user` and `metadata` of the body. */
  readonly user: string | null;
  readonly metadata: Metadata | null;
  /** The operation of the route that it was made at. */
  readonly endpoint?: string | null;
  /** Of the request, if it is traced. */
  readonly span?: Span | null;
}

/** Columns that are null are left out: most requests have two of the four. */
export function originFields(origin: RequestOrigin | undefined) {
  return {
    key_id: origin?.key ?? undefined,
    end_user: origin?.user ?? undefined,
    metadata: origin?.metadata ?? undefined,
    endpoint: origin?.endpoint ?? undefined,
  };
}

import type { Maps } from "./expression.ts";

/** One type under `media` in a provider's file; schemas/provider.schema.json describes every key. */
export interface MediaDeclaration {
  readonly inputs?: "url" | "bytes";
  readonly polling?: { readonly first_seconds: number; readonly max_seconds: number };
  readonly maps?: Maps;
  readonly prepare?: Readonly<Record<string, RequestDeclaration>>;
  readonly submit: RequestDeclaration | readonly RequestDeclaration[];
  readonly id?: string;
  readonly poll?: RequestDeclaration & { readonly failed_on?: readonly number[] };
  readonly state?: StateDeclaration;
  readonly progress?: string;
  readonly result?: RequestDeclaration & { readonly failed_on?: readonly number[] };
  readonly outputs: OutputsDeclaration;
  readonly usage?: { readonly outputs?: string; readonly seconds?: string };
  readonly failure?: { readonly code?: string; readonly message?: string };
  readonly cancel?: RequestDeclaration & { readonly confirms?: boolean };
  readonly find?: RequestDeclaration & {
    readonly id: string;
    readonly list?: string;
    readonly none_on?: readonly number[];
  };
  readonly callback?: string;
}

export interface RequestDeclaration {
  readonly when?: string;
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly host?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly bytes?: string;
}

type Words = string | readonly string[];

export interface StateDeclaration {
  readonly at: string;
  readonly queued?: Words;
  readonly running?: Words;
  readonly succeeded: Words;
  readonly failed?: Words;
  readonly cancelled?: Words;
}

export interface OutputsDeclaration {
  readonly url?: string;
  readonly base64?: string;
  readonly bytes?: true;
  readonly with_key?: boolean;
  readonly mime_type?: string;
}

/** What every request of a provider shares. */
export interface ProviderGround {
  readonly base_url?: string;
  readonly hosts?: Readonly<Record<string, string>>;
  readonly auth?: "none" | { readonly header: string; readonly prefix?: string };
  readonly headers?: Readonly<Record<string, string>>;
}

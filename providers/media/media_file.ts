import type { Maps } from "./expression.ts";

/** One type under `media` in a provider's file; schemas/provider.schema.json describes every key. */
export interface MediaRules {
  readonly inputs?: "url" | "bytes";
  readonly polling?: { readonly first_seconds: number; readonly max_seconds: number };
  readonly maps?: Maps;
  readonly prepare?: Readonly<Record<string, RequestRules>>;
  readonly submit: RequestRules | readonly RequestRules[];
  readonly id?: string;
  readonly poll?: RequestRules & { readonly failed_on?: readonly number[] };
  readonly state?: StateRules;
  readonly progress?: string;
  readonly result?: RequestRules & { readonly failed_on?: readonly number[] };
  readonly outputs: OutputRules;
  readonly usage?: { readonly outputs?: string; readonly seconds?: string };
  readonly failure?: { readonly code?: string; readonly message?: string };
  readonly cancel?: RequestRules & { readonly confirms?: boolean };
  readonly find?: RequestRules & {
    readonly id: string;
    readonly list?: string;
    readonly none_on?: readonly number[];
  };
  readonly callback?: string;
}

export interface RequestRules {
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

type OneOrMoreTexts = string | readonly string[];

export interface StateRules {
  readonly at: string;
  readonly queued?: OneOrMoreTexts;
  readonly running?: OneOrMoreTexts;
  readonly succeeded: OneOrMoreTexts;
  readonly failed?: OneOrMoreTexts;
  readonly cancelled?: OneOrMoreTexts;
}

export interface OutputRules {
  readonly url?: string;
  readonly base64?: string;
  readonly bytes?: true;
  readonly with_key?: boolean;
  readonly mime_type?: string;
}

/** What all requests to a provider have in common. */
export interface ConnectionRules {
  readonly base_url?: string;
  readonly hosts?: Readonly<Record<string, string>>;
  readonly auth?: "none" | { readonly header: string; readonly prefix?: string };
  readonly headers?: Readonly<Record<string, string>>;
}

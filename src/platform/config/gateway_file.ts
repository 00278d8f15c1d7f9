// Written by `deno task generate` from schemas/gateway.schema.json. Do not edit.

/**
 * A reference to an environment variable, ${NAME} or ${NAME:-default}, or to a file, ${file:/run/secrets/name}, which is read at every reload. Secrets must not be written into this file.
 */
export type Secret = string;
/**
 * Ids of the models that the quota pays for. A change of the list applies at once.
 *
 * @minItems 1
 */
export type QuotaModels = string[];
/**
 * Unit of the price.
 */
export type Unit =
  | "1K tokens"
  | "1M tokens"
  | "image"
  | "call"
  | "video"
  | "episode"
  | "shot"
  | "1K characters"
  | "1M characters"
  | "second"
  | "minute";
/**
 * A decimal amount in quotes, so that it is not rounded.
 */
export type Amount = string;

/**
 * Configuration file of a Tollgate gateway: its models, their prices, the plans that can use them and the providers that serve them.
 */
export interface GatewayFile {
  /**
   * Name and currency of the service.
   */
  service: {
    /**
     * Name shown in the console, in the OpenAPI document and in the start-up message.
     */
    name: string;
    /**
     * Public URL of the API, ending in /v1. Without it, the address that the gateway listens on is used.
     */
    base_url?: string;
    /**
     * ISO 4217 code of the currency of all prices and balances. The database stores it: after the first booking, a configuration with another currency is rejected.
     */
    currency: string;
    /**
     * Decimal places of a charge. A charge is rounded once, when it is captured; the rounding difference is added to the next charge of the account. Chat requests cost fractions of a cent, so use more than two.
     */
    currency_scale: number;
    /**
     * URL of the support page. Shown in the console and in the OpenAPI document.
     */
    support_url?: string;
  };
  /**
   * Where the queue, sessions and files are stored. The database is set with DATABASE_URL in the environment.
   */
  storage: {
    /**
     * Queue that wakes task workers: kv (one machine) or postgres (any number of nodes).
     */
    queue: "kv" | "postgres";
    /**
     * Where sign-in sessions are stored: kv (one machine) or postgres (any number of nodes).
     */
    sessions: "kv" | "postgres";
    /**
     * Where uploaded and generated files are stored: local (a folder in DATA_DIR, which all nodes must share) or s3.
     */
    files: "local" | "s3";
    /**
     * A bucket of an S3-compatible service. Keep this section as long as files in the bucket are needed.
     */
    s3?: {
      /**
       * URL of the service, without the bucket.
       */
      endpoint: string;
      /**
       * Region for request signatures.
       */
      region: string;
      /**
       * Name of the bucket. It must exist; it does not have to be public.
       */
      bucket: string;
      /**
       * true: the bucket is the first part of the URL path, which most services support. false: it is part of the host name.
       */
      path_style: boolean;
      /**
       * Prefix of all object names.
       */
      prefix: string;
      access_key_id: Secret;
      secret_access_key: Secret;
    };
    /**
     * Limits for files that clients upload.
     */
    uploads: {
      /**
       * Largest image, in bytes.
       */
      image_bytes_max: number;
      /**
       * Largest audio file, in bytes.
       */
      audio_bytes_max: number;
      /**
       * Largest video, in bytes.
       */
      video_bytes_max: number;
      /**
       * Days until an upload is deleted.
       */
      keep_days: number;
    };
    /**
     * Files that generation tasks produce.
     */
    outputs: {
      /**
       * Hours until a signed output URL expires. Each GET of the task returns a new URL.
       */
      url_hours: number;
      /**
       * Days until an output file is deleted.
       */
      keep_days: number;
    };
    /**
     * How long records are kept in the database. The request log has logs.keep_days, stored responses have responses.keep_days, files have uploads.keep_days and outputs.keep_days.
     */
    keep: {
      /**
       * Months for which receipts and transfers stay in the database, beside the current one. Older months are folded into totals, and their rows are written to the file store. Not set: they stay for ever.
       */
      money_months?: number;
      /**
       * Days until an ended task is deleted. Its receipt stays.
       */
      task_days: number;
      /**
       * Days for which webhook events and their deliveries can be looked up and sent again, at least. A whole month is deleted at a time.
       */
      webhook_days: number;
    };
  };
  /**
   * Default rate limits of accounts, and limits for the size of requests.
   */
  limits: {
    /**
     * Limits of the accounts on plans that set no others.
     */
    default: {
      /**
       * Requests per minute for each API key. The limit refills continuously.
       */
      requests_per_minute: number;
      /**
       * Tokens per minute for each API key. The limit refills continuously.
       */
      tokens_per_minute: number;
      /**
       * Tasks that one account can run at the same time.
       */
      running_tasks: number;
      /**
       * Total bytes of the uploads of one account. Outputs of tasks do not count.
       */
      storage_bytes: number;
    };
    /**
     * Largest JSON body, in bytes.
     */
    body_bytes_max: number;
    /**
     * Bytes of all JSON bodies in memory at the same time, per process. A body takes about four times its size in memory. Further requests get 503.
     */
    body_bytes_total_max: number;
    /**
     * Bytes of the JSON bodies of one account in memory at the same time, per process. Further requests get 429.
     */
    body_bytes_account_max: number;
    /**
     * Maximum number of values (fields and array items) in a JSON body larger than 64 KiB.
     */
    json_values_max: number;
    /**
     * Maximum nesting depth of a JSON body.
     */
    json_depth_max: number;
    /**
     * Seconds that a task may wait in the queue before it expires.
     */
    queue_seconds_max: number;
  };
  /**
   * Plans by name. An account without a plan is on `free`, which exists even if it is not configured.
   */
  plans: {
    [k: string]: PlanEntry;
  };
  /**
   * Providers by a name of your choice. Clients never see these names.
   */
  providers: {
    [k: string]: ProviderEntry;
  };
  /**
   * The models that clients can use.
   *
   * @minItems 1
   */
  models: ModelEntry[];
  /**
   * Price books by name. `default` applies unless a plan or an account uses another one.
   */
  prices: {
    [k: string]: PriceBookEntry;
  };
  /**
   * The endpoints under /v1. Default: all endpoints of this version, with stage released.
   *
   * @minItems 1
   */
  routes?: RouteEntry[];
  /**
   * The request log, with one row for each request under /v1 that had a valid API key, and the audit log of operators and members.
   */
  logs: {
    /**
     * Days until a row of the request log is deleted. A smaller number deletes older days within minutes.
     */
    keep_days: number;
    /**
     * Days until an entry of the audit log may be deleted. Whole months are deleted, once their last day is that old.
     */
    audit_keep_days: number;
    /**
     * Whose bodies are stored beside the log, of requests to models and of their responses. `off`: none. `errors`: of requests that failed. `all`: of every request. They are sealed with `SECRETS_KEY`, which must be set, and deleted with the rows of the log.
     */
    bodies: "off" | "errors" | "all";
    /**
     * Bytes of each body that are stored, from its beginning.
     */
    body_bytes_max: number;
  };
  /**
   * Stored responses of /v1/responses, which later requests may continue.
   */
  responses: {
    /**
     * Days until a stored response is deleted. A smaller number deletes older days within minutes.
     */
    keep_days: number;
  };
  /**
   * Delivery of webhook events.
   */
  webhooks: {
    /**
     * Seconds to wait before each attempt. The gateway varies each wait by 20 %.
     *
     * @minItems 1
     * @maxItems 30
     */
    retry_seconds: number[];
    /**
     * Timeout of one attempt in seconds.
     */
    timeout_seconds: number;
    /**
     * An endpoint is disabled when all deliveries have failed for this many days.
     */
    disable_after_days: number;
  };
  /**
   * Requests from the gateway to URLs that clients send, such as input images and webhooks.
   */
  outbound: {
    /**
     * For development only: allows private network addresses and http URLs. Logged as a warning at start.
     */
    allow_private: boolean;
  };
  /**
   * The website: console, sign-in and documentation.
   */
  site: {
    /**
     * Public URL of the website. Without it, the address that the gateway listens on is used.
     */
    url?: string;
    /**
     * Whether people can register on the website.
     */
    registration: boolean;
    /**
     * A decimal amount in quotes, so that it is not rounded.
     */
    welcome_credit?: string;
    /**
     * Number of reverse proxies in front of the gateway that add to X-Forwarded-For. Sign-in attempts are counted by the client address that the outermost proxy reports, and `allowed_ips` of API keys are compared with it; with 0, the address of the connection counts.
     */
    trusted_proxies: number;
    /**
     * Sign-in providers in addition to email and password. Register the callback URL {site.url}/sign-in/{id}/callback at the provider.
     *
     * @maxItems 20
     */
    sign_in: SignInProviderEntry[];
  };
}
/**
 * Price book, limits and quotas of the accounts on this plan.
 */
export interface PlanEntry {
  /**
   * Display name. Default: the key of the plan.
   */
  name?: string;
  /**
   * One sentence, shown in the console.
   */
  description?: string;
  /**
   * The price book that applies.
   */
  price_book: string;
  limits: RatesEntry;
  /**
   * Monthly quotas. They are used before promotional credit and cash.
   */
  quotas: {
    /**
     * Tokens; as a block, only for the models that it names.
     */
    text:
      | number
      | {
          /**
           * Tokens.
           */
          amount: number;
          models: QuotaModels;
        };
    /**
     * Images; as a block, only for the models that it names.
     */
    image:
      | number
      | {
          /**
           * Images.
           */
          amount: number;
          models: QuotaModels;
        };
    /**
     * Seconds of video; as a block, only for the models that it names.
     */
    video:
      | number
      | {
          /**
           * Seconds of video.
           */
          amount: number;
          models: QuotaModels;
        };
  };
}
/**
 * Limits that replace those of limits.default.
 */
export interface RatesEntry {
  /**
   * Requests per minute for each API key. The limit refills continuously.
   */
  requests_per_minute?: number;
  /**
   * Tokens per minute for each API key. The limit refills continuously.
   */
  tokens_per_minute?: number;
  /**
   * Tasks that one account can run at the same time.
   */
  running_tasks?: number;
  /**
   * Total bytes of the uploads of one account. Outputs of tasks do not count.
   */
  storage_bytes?: number;
}
/**
 * A provider: an AI service that the gateway calls.
 */
export interface ProviderEntry {
  /**
   * The protocol of the provider: the built-in `simulator`, one of the included adapters, or the path of your own provider file relative to this file, such as `./service.yaml`.
   */
  adapter: string;
  /**
   * Base URL of the provider. Default: the URL of the adapter.
   */
  base_url?: string;
  /**
   * A reference to an environment variable, ${NAME} or ${NAME:-default}, or to a file, ${file:/run/secrets/name}, which is read at every reload. Secrets must not be written into this file.
   */
  api_key?: string;
  /**
   * Additional headers of every request to the provider.
   */
  headers: {
    [k: string]: string;
  };
  /**
   * Timeout of one attempt in seconds. An upstream of a model can set another one.
   */
  timeout_seconds: number;
  /**
   * Maximum number of concurrent requests to the provider, for all models together. Default: no limit.
   */
  concurrency_max?: number;
}
/**
 * A model: what clients see, and how the gateway serves it.
 */
export interface ModelEntry {
  /**
   * Id that clients use in requests. Do not change it later.
   */
  id: string;
  /**
   * Other ids of the model that requests may use. Responses and receipts have the id.
   *
   * @maxItems 32
   */
  aliases: string[];
  /**
   * Display name.
   */
  name: string;
  /**
   * Type of the model.
   */
  type: "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding";
  /**
   * URL of an image.
   */
  logo?: string;
  /**
   * One or two sentences.
   */
  description: string;
  /**
   * Strengths of the model.
   *
   * @maxItems 20
   */
  advantages: string[];
  /**
   * Typical uses of the model.
   *
   * @maxItems 20
   */
  scenarios: string[];
  /**
   * available; preview; deprecated (works, responses have a Deprecation header); unavailable (requests are rejected, and the model is not listed).
   */
  status: "available" | "preview" | "deprecated" | "unavailable";
  /**
   * Date of the deprecation, sent in the Deprecation header.
   */
  deprecated_at?: string;
  /**
   * Date of the removal, sent in the Sunset header of a deprecated model. From then on the model is unavailable.
   */
  sunset_at?: string;
  /**
   * Capabilities of the model. Requests that need another capability are rejected.
   *
   * @minItems 1
   */
  capabilities: (
    | "chat"
    | "streaming"
    | "vision"
    | "files"
    | "audio_input"
    | "tools"
    | "json_schema"
    | "reasoning"
    | "text_to_image"
    | "image_to_image"
    | "text_to_video"
    | "image_to_video"
    | "audio"
    | "audio_to_avatar"
    | "script"
    | "roles"
    | "storyboard"
    | "final_video"
    | "text_to_speech"
    | "embeddings"
  )[];
  limits?: ModelLimitsEntry;
  /**
   * Upstreams that serve the model, chosen by priority, then by weight. A drama has a `chain` instead.
   *
   * @minItems 1
   * @maxItems 32
   */
  upstreams?: UpstreamEntry[];
  /**
   * Plans and accounts that can see and use the model. Default: all accounts.
   */
  visible_to?: {
    /**
     * Keys of `plans`.
     *
     * @minItems 1
     */
    plans?: string[];
    /**
     * Account ids.
     *
     * @minItems 1
     */
    accounts?: string[];
  };
  /**
   * Seconds that a task may run after an upstream has accepted it. Then it expires and is not charged.
   */
  deadline_seconds: number;
  /**
   * If a client disconnects during a stream: stop the upstream and charge what was produced, or drain (read the stream to its end and charge all of it).
   */
  on_disconnect: "stop" | "drain";
  chain?: ChainEntry;
}
/**
 * Limits for requests to this model. Clients see them in the model details.
 */
export interface ModelLimitsEntry {
  /**
   * Allowed durations in seconds.
   *
   * @minItems 1
   */
  durations?: number[];
  /**
   * Allowed values of `resolution`, such as 720p. Requests to a model without them may not have a resolution.
   *
   * @minItems 1
   */
  resolutions?: string[];
  /**
   * Allowed aspect ratios, such as 16:9.
   *
   * @minItems 1
   */
  aspect_ratios?: string[];
  /**
   * Maximum length of a prompt in characters.
   */
  max_prompt_length?: number;
  /**
   * Allowed image sizes, such as 1024x1024.
   *
   * @minItems 1
   */
  sizes?: string[];
  /**
   * Allowed values of `quality`. Requests to a model without them may not have a quality.
   *
   * @minItems 1
   */
  qualities?: string[];
  /**
   * Maximum number of images per request.
   */
  max_count?: number;
  /**
   * Maximum number of input images per request.
   */
  max_input_images?: number;
  /**
   * Allowed voice ids.
   *
   * @minItems 1
   */
  voices?: string[];
  /**
   * Allowed audio formats.
   *
   * @minItems 1
   */
  formats?: ("mp3" | "wav" | "pcm")[];
  /**
   * Maximum number of characters (people) in a drama.
   */
  max_characters?: number;
  /**
   * Maximum number of shots in a drama.
   */
  max_shots?: number;
  /**
   * Maximum number of tokens of prompt and output together.
   */
  context_tokens?: number;
  /**
   * Maximum number of output tokens.
   */
  max_output_tokens?: number;
  /**
   * Maximum number of texts in a request for embeddings. Default: 2048.
   */
  max_inputs?: number;
  /**
   * Maximum number of tokens of each text in a request for embeddings.
   */
  max_input_tokens?: number;
  /**
   * Maximum length of a vector. Requests to a model without it may not have `dimensions`.
   */
  max_dimensions?: number;
}
/**
 * A provider and its model that can serve requests.
 */
export interface UpstreamEntry {
  /**
   * A key of `providers`.
   */
  provider: string;
  /**
   * Name of the model at the provider. Clients never see it. Default: the id of the model.
   */
  model?: string;
  /**
   * Upstreams with a lower number are tried first.
   */
  priority: number;
  /**
   * Share of requests among upstreams of the same priority.
   */
  weight: number;
  /**
   * Timeout of one attempt in seconds. Default: the timeout of the provider.
   */
  timeout_seconds?: number;
  cost?: CostEntry;
  /**
   * Fields that are added to the body of every request to the provider, such as { quality: high }. They replace fields of the same name in the request.
   */
  extra_body?: {};
}
/**
 * What the provider charges, with the same keys as a price. Clients never see it. Used for margin reports and for the warning about prices below cost.
 */
export interface CostEntry {
  /**
   * Price of one unit, for units other than tokens.
   */
  price?: string;
  /**
   * Price of one unit of input tokens.
   */
  input_price?: string;
  /**
   * Price of one unit of output tokens. Models that have no output tokens, such as `embedding`, do not need it.
   */
  output_price?: string;
  /**
   * Price of one unit of input tokens from the cache of the provider. Default: input_price.
   */
  cached_input_price?: string;
  /**
   * Price of one unit of input tokens that the provider writes to its cache for some minutes. Default: input_price.
   */
  cache_write_price?: string;
  /**
   * Price of one unit of input tokens that the provider writes to its cache for an hour. Default: input_price.
   */
  cache_write_1h_price?: string;
  /**
   * Price of one unit of reasoning tokens. Default: output_price.
   */
  reasoning_price?: string;
  /**
   * Price of one unit of audio input tokens. Default: input_price.
   */
  audio_input_price?: string;
  /**
   * Price of one unit of audio output tokens. Default: output_price.
   */
  audio_output_price?: string;
  unit: Unit;
  /**
   * Minimum charge of a request.
   */
  minimum_charge?: string;
  /**
   * Prices of requests with many input tokens. The tier is chosen by all input tokens of a request, cached and written ones included, and holds for every token of it.
   *
   * @minItems 1
   * @maxItems 16
   */
  tiers?: ContextTierEntry[];
  /**
   * Prices of processing tiers, by the value of service_tier. Requests may ask only for the tiers listed here; `auto` and `default` mean the base price. The tier that was served is billed.
   */
  service_tiers?: {
    [k: string]: ServiceTierEntry;
  };
  fees?: FeesEntry;
  /**
   * Prices that depend on the request, such as on its quality. The first variant whose conditions all hold applies; otherwise `price`.
   *
   * @minItems 1
   * @maxItems 64
   */
  variants?: PriceVariantEntry[];
}
/**
 * Prices of requests with more input tokens. An amount that is left out stays as in the entry.
 */
export interface ContextTierEntry {
  /**
   * The tier applies to requests with more input tokens than this.
   */
  above_input_tokens: number;
  input_price?: Amount;
  output_price?: Amount;
  cached_input_price?: Amount;
  cache_write_price?: Amount;
  cache_write_1h_price?: Amount;
  reasoning_price?: Amount;
  audio_input_price?: Amount;
  audio_output_price?: Amount;
}
/**
 * Prices of a processing tier: a multiplier of every token amount in force, or amounts. An amount that is left out stays as in the entry.
 */
export interface ServiceTierEntry {
  /**
   * Factor for every amount, such as "2" or "0.5".
   */
  multiplier?: string;
  input_price?: Amount;
  output_price?: Amount;
  cached_input_price?: Amount;
  cache_write_price?: Amount;
  cache_write_1h_price?: Amount;
  reasoning_price?: Amount;
  audio_input_price?: Amount;
  audio_output_price?: Amount;
}
/**
 * Fees for what a request does besides tokens, for each one that the provider reports.
 */
export interface FeesEntry {
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  web_search?: string;
}
/**
 * A price for requests that meet all conditions.
 */
export interface PriceVariantEntry {
  /**
   * Conditions, by the name of a field of the request; each is a value, or a list of which one must match.
   */
  when: {
    /**
     * Sizes of an image.
     *
     * @minItems 1
     */
    size?: string | string[];
    /**
     * Qualities.
     *
     * @minItems 1
     */
    quality?: string | string[];
    /**
     * Resolutions of a video.
     *
     * @minItems 1
     */
    resolution?: string | string[];
    /**
     * Whether a video has audio.
     */
    audio?: boolean;
    /**
     * Aspect ratios.
     *
     * @minItems 1
     */
    aspect_ratio?: string | string[];
    /**
     * Durations of a video in seconds.
     *
     * @minItems 1
     */
    duration?: number | number[];
    /**
     * Voices.
     *
     * @minItems 1
     */
    voice?: string | string[];
    /**
     * Audio formats.
     *
     * @minItems 1
     */
    response_format?: string | string[];
  };
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  price: string;
}
/**
 * Pipeline of a drama: the model and the prompt of each stage.
 */
export interface ChainEntry {
  /**
   * Turns the client's text into scenes with dialogue, one shot each.
   */
  script: {
    /**
     * Id of a chat model.
     */
    model: string;
    /**
     * Prompt with the placeholders {{title}}, {{script}}, {{characters}}, {{episode}}, {{aspect_ratio}}, {{shots_min}}, {{shots_max}} and, for roles, {{scenes}}.
     */
    prompt: string;
    /**
     * A JSON Schema that the output must match in addition to the one of the gateway.
     */
    schema?: {};
    /**
     * Maximum number of output tokens.
     */
    max_output_tokens: number;
  };
  /**
   * Describes the appearance of each character.
   */
  roles?: {
    /**
     * Id of a chat model.
     */
    model: string;
    /**
     * Prompt with the placeholders {{title}}, {{script}}, {{characters}}, {{episode}}, {{aspect_ratio}}, {{shots_min}}, {{shots_max}} and, for roles, {{scenes}}.
     */
    prompt: string;
    /**
     * A JSON Schema that the output must match in addition to the one of the gateway.
     */
    schema?: {};
    /**
     * Maximum number of output tokens.
     */
    max_output_tokens: number;
  };
  /**
   * Makes one image for each shot.
   */
  storyboard?: {
    /**
     * Id of an image model.
     */
    model: string;
    /**
     * Prompt of a shot with the placeholders {{heading}}, {{action}}, {{looks}}, {{title}}, {{shot}}, {{shots}} and {{aspect_ratio}}.
     */
    prompt: string;
    /**
     * Image size by aspect ratio of the drama. Default: the default size of the image model.
     */
    sizes?: {
      [k: string]: string;
    };
  };
  /**
   * Makes one video for each shot, with speech if configured, and joins them.
   */
  video?: {
    /**
     * Id of a video model.
     */
    model: string;
    /**
     * Prompt of a shot with the same placeholders as the storyboard.
     */
    prompt: string;
    /**
     * Duration of each shot in seconds. Default: the shortest duration of the model.
     */
    duration?: number;
    /**
     * Speech for the dialogue. Default: no speech.
     */
    speech?: {
      /**
       * Id of a speech model.
       */
      model: string;
      /**
       * Voices, assigned to the characters in turn. Default: the voices of the model.
       *
       * @minItems 1
       * @maxItems 100
       */
      voices?: string[];
      /**
       * Maximum number of spoken text characters per shot. Longer text is cut.
       */
      max_characters: number;
    };
  };
  /**
   * Minimum number of shots of a script. The maximum is limits.max_shots of the model.
   */
  min_shots: number;
  /**
   * Attempts for each text or shot before the drama fails.
   */
  tries: number;
  /**
   * Number of shots of one drama that are made at the same time.
   */
  shots_at_once: number;
}
/**
 * A price book: the prices of all models for some plans or accounts.
 */
export interface PriceBookEntry {
  /**
   * Date from which the prices apply. An entry can have its own, later date.
   */
  effective_at: string;
  /**
   * The parent price book. Its prices apply to models that this book does not list.
   */
  extends?: string;
  /**
   * One price per model. A second entry with a later effective_at replaces the first at that time.
   *
   * @minItems 1
   */
  entries: PriceEntry[];
}
/**
 * The price of a model.
 */
export interface PriceEntry {
  /**
   * A model id.
   */
  model: string;
  /**
   * What is billed: tokens, items (per_call: requests, images, episodes, characters) or time (duration).
   */
  billing_type: "token" | "per_call" | "duration";
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  input_price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  output_price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  cached_input_price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  cache_write_price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  cache_write_1h_price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  reasoning_price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  audio_input_price?: string;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  audio_output_price?: string;
  unit: Unit;
  /**
   * A decimal amount in quotes, so that it is not rounded.
   */
  minimum_charge?: string;
  /**
   * Prices of requests with many input tokens. The tier is chosen by all input tokens of a request, cached and written ones included, and holds for every token of it.
   *
   * @minItems 1
   * @maxItems 16
   */
  tiers?: ContextTierEntry[];
  /**
   * Prices of processing tiers, by the value of service_tier. Requests may ask only for the tiers listed here; `auto` and `default` mean the base price. The tier that was served is billed.
   */
  service_tiers?: {
    [k: string]: ServiceTierEntry;
  };
  fees?: FeesEntry;
  /**
   * Prices that depend on the request, such as on its quality. The first variant whose conditions all hold applies; otherwise `price`.
   *
   * @minItems 1
   * @maxItems 64
   */
  variants?: PriceVariantEntry[];
  /**
   * Date from which this price applies. Default: effective_at of the price book.
   */
  effective_at?: string;
}
/**
 * One endpoint.
 */
export interface RouteEntry {
  /**
   * Path under /v1.
   */
  path: string;
  /**
   * What the endpoint does: an operation such as chat. `deno task gateway routes` lists them.
   */
  operation: string;
  /**
   * For `generation`: the type of the models.
   */
  type?: "image" | "video" | "avatar" | "drama" | "speech";
  /**
   * For `generation`: the request schema, either a name in schemas/requests or the path of your own JSON Schema relative to this file, such as `./posters.schema.json`. Requests must match your own schema and the one of the type. Default: the schema of the type.
   */
  request?: string;
  /**
   * released; preview (works, and is marked in the OpenAPI document); planned (returns 501).
   */
  stage: "released" | "preview" | "planned";
  /**
   * Date of the deprecation, sent in the Deprecation header.
   */
  deprecated_at?: string;
  /**
   * Date of the removal, sent in the Sunset header.
   */
  sunset_at?: string;
}
/**
 * A sign-in provider: GitHub, Google or any OpenID Connect provider.
 */
export interface SignInProviderEntry {
  /**
   * Part of the callback URL and of stored identities. Do not change it later.
   */
  id: string;
  /**
   * Text of the button after "Continue with". Default: the name of the kind.
   */
  name?: string;
  /**
   * github and google have known URLs; oidc needs an issuer.
   */
  kind: "github" | "google" | "oidc";
  /**
   * URL of the OpenID Connect provider. Its metadata is read from /.well-known/openid-configuration below this URL.
   */
  issuer?: string;
  /**
   * Client id of the gateway at the provider. If it is empty, the sign-in provider is disabled.
   */
  client_id: string;
  client_secret: Secret;
}

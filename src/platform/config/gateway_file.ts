// Written by `deno task generate` from schemas/gateway.schema.json. Do not edit.

/**
 * A reference to an environment variable, ${NAME} or ${NAME:-default}. Secrets are never written into this file.
 */
export type Secret = string;
/**
 * A decimal amount in quotes, so that no digit is lost.
 */
export type Amount = string;
/**
 * What one price counts.
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
 * A Tollgate gateway: its models, what they cost, who may use them and which services answer.
 */
export interface GatewayFile {
  /**
   * What the service calls itself and what it charges in.
   */
  service?: {
    /**
     * Name shown to people: in the console, in the API document, in the start-up banner.
     */
    name?: string;
    /**
     * Public address of the API, ending in /v1. Leave out on one machine: the listening address is used.
     */
    base_url?: string;
    /**
     * ISO 4217 code of the one currency that prices and balances are in. The database remembers it: once something is booked, a declaration with another one is refused.
     */
    currency?: string;
    /**
     * Decimal places a charge is rounded to, once, when it is captured; what rounding leaves counts at the account's next charge. Chat costs fractions of a cent, so more than two is usual.
     */
    currency_scale?: number;
    /**
     * Where people find help. Shown in the console and the API document.
     */
    support_url?: string;
  };
  /**
   * Where work in progress and bytes are kept. The database itself is DATABASE_URL in the environment.
   */
  storage?: {
    /**
     * What wakes tasks: kv (one machine) or postgres (any number of nodes).
     */
    queue?: "kv" | "postgres";
    /**
     * Where sign-in sessions are kept.
     */
    sessions?: "kv" | "postgres";
    /**
     * Where the bytes of uploads and outputs are kept: local (a folder in DATA_DIR; nodes must share it) or s3.
     */
    files?: "local" | "s3";
    /**
     * A bucket of any service that speaks S3. Keep it declared while files in it are still to be read.
     */
    s3?: {
      /**
       * Address of the service, without the bucket.
       */
      endpoint: string;
      /**
       * Region that requests are signed for.
       */
      region?: string;
      /**
       * The bucket. It must exist, and nothing in it need be public.
       */
      bucket: string;
      /**
       * Whether the bucket is the first part of the path (most services take it) or of the host name.
       */
      path_style?: boolean;
      /**
       * Put before the name of every object.
       */
      prefix?: string;
      access_key_id: Secret;
      secret_access_key: Secret;
    };
    /**
     * Files that clients upload.
     */
    uploads?: {
      /**
       * Largest image, in bytes.
       */
      image_bytes_max?: number;
      /**
       * Largest audio file, in bytes.
       */
      audio_bytes_max?: number;
      /**
       * Largest video, in bytes.
       */
      video_bytes_max?: number;
      /**
       * Days until an upload is deleted.
       */
      keep_days?: number;
    };
    /**
     * What generation tasks produce.
     */
    outputs?: {
      /**
       * Hours a signed output address works; each read of the task renews it.
       */
      url_hours?: number;
      /**
       * Days until the bytes are deleted.
       */
      keep_days?: number;
    };
  };
  /**
   * What every account may do unless its plan says otherwise, and how large a request may be.
   */
  limits?: {
    default?: Rates;
    /**
     * Largest JSON body, in bytes.
     */
    body_bytes_max?: number;
    /**
     * Bytes of JSON bodies in memory at once, in one process; a body takes about four times its size. What comes beyond is answered with 503.
     */
    body_bytes_total_max?: number;
    /**
     * The same of one account: what comes beyond is answered with 429.
     */
    body_bytes_account_max?: number;
    /**
     * Most values (fields and entries) in a JSON body above 64 KiB.
     */
    json_values_max?: number;
    /**
     * Deepest nesting of a JSON body.
     */
    json_depth_max?: number;
    /**
     * How long a task may wait for an upstream before it expires, in seconds.
     */
    queue_seconds_max?: number;
  };
  /**
   * Plans by name. An account without one is on `free`, which exists even when it is not declared.
   */
  plans?: {
    [k: string]: Plan;
  };
  /**
   * Services that answer, by a name of your choice. It never leaves the gateway.
   */
  providers: {
    [k: string]: Provider;
  };
  /**
   * The models clients see.
   *
   * @minItems 1
   */
  models: Model[];
  /**
   * Price books by name. `default` is used unless a plan or an account names another.
   */
  prices: {
    [k: string]: PriceBook;
  };
  /**
   * The endpoints under /v1. Left out: every endpoint of this build, released.
   *
   * @minItems 1
   */
  routes?: Route[];
  /**
   * How events are delivered.
   */
  webhooks?: {
    /**
     * Waits before each attempt, in seconds, before jitter.
     *
     * @minItems 1
     * @maxItems 30
     */
    retry_seconds?: number[];
    /**
     * Time one attempt may take.
     */
    timeout_seconds?: number;
    /**
     * Days of nothing but failure after which an endpoint is disabled.
     */
    disable_after_days?: number;
  };
  /**
   * Requests the gateway makes to addresses that clients name.
   */
  outbound?: {
    /**
     * Development only: lets clients name private and plain-http addresses. Said loudly at start.
     */
    allow_private?: boolean;
  };
  /**
   * The web site: console, sign-in and documentation.
   */
  site?: {
    /**
     * Public address of the site. Leave out on one machine: the listening address is used.
     */
    url?: string;
    /**
     * Whether people may register by themselves.
     */
    registration?: boolean;
    /**
     * A decimal amount in quotes, so that no digit is lost.
     */
    welcome_credit?: string;
    /**
     * How many reverse proxies stand in front and add to X-Forwarded-For. Sign-in attempts are counted by the address that the outermost of them saw; 0 counts by the connection.
     */
    trusted_proxies?: number;
    /**
     * Other ways to sign in, beside e-mail address and password. The address to register at the provider is {site.url}/sign-in/{id}/callback.
     *
     * @maxItems 20
     */
    sign_in?: SignInProvider[];
  };
}
/**
 * Rates and how much may run at once.
 */
export interface Rates {
  /**
   * Requests per minute and key, smoothed.
   */
  requests_per_minute?: number;
  /**
   * Tokens per minute and key, smoothed.
   */
  tokens_per_minute?: number;
  /**
   * Tasks of one account that may run at the same time.
   */
  running_tasks?: number;
  /**
   * Bytes that the uploads of one account may take together. Results of tasks do not count. Left out everywhere: 10 GiB.
   */
  storage_bytes?: number;
}
/**
 * What an account gets for being on this plan.
 */
export interface Plan {
  /**
   * Name shown to people. Left out: the plan's own name.
   */
  name?: string;
  /**
   * One sentence for the console.
   */
  description?: string;
  /**
   * Which book of `prices` applies.
   */
  price_book?: string;
  limits?: Rates1;
  /**
   * What is included before gift credit and cash are used, per kind.
   */
  quotas?: {
    /**
     * Tokens.
     */
    text?: number;
    /**
     * Images.
     */
    image?: number;
    /**
     * Seconds of video.
     */
    video?: number;
  };
}
/**
 * Rates and how much may run at once.
 */
export interface Rates1 {
  /**
   * Requests per minute and key, smoothed.
   */
  requests_per_minute?: number;
  /**
   * Tokens per minute and key, smoothed.
   */
  tokens_per_minute?: number;
  /**
   * Tasks of one account that may run at the same time.
   */
  running_tasks?: number;
  /**
   * Bytes that the uploads of one account may take together. Results of tasks do not count. Left out everywhere: 10 GiB.
   */
  storage_bytes?: number;
}
/**
 * One service that answers.
 */
export interface Provider {
  /**
   * How the service is spoken to: the built-in `simulator`, one of the shipped adapters, or a file of your own that describes the service, such as `./service.yaml`, looked for beside this one.
   */
  adapter: string;
  /**
   * Address of the service. Left out: the adapter's own.
   */
  base_url?: string;
  /**
   * A reference to an environment variable, ${NAME} or ${NAME:-default}. Secrets are never written into this file.
   */
  api_key?: string;
  /**
   * Further headers sent with every request to it.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * How long one attempt may take, unless the model says otherwise.
   */
  timeout_seconds?: number;
  /**
   * Requests under way to it at once, over all models.
   */
  concurrency_max?: number;
}
/**
 * A model as clients see it, and what stays private about it.
 */
export interface Model {
  /**
   * Stable id that clients send.
   */
  id: string;
  /**
   * Display name.
   */
  name: string;
  /**
   * Kind of model.
   */
  type: "chat" | "image" | "video" | "avatar" | "drama" | "speech";
  /**
   * Address of a picture.
   */
  logo?: string;
  /**
   * What it is, in a sentence or two.
   */
  description?: string;
  /**
   * What it is good at.
   *
   * @maxItems 20
   */
  advantages?: string[];
  /**
   * What people use it for.
   *
   * @maxItems 20
   */
  scenarios?: string[];
  /**
   * available; preview; deprecated (works, and says so in headers); unavailable (refused, and listed only for who asks for that status).
   */
  status?: "available" | "preview" | "deprecated" | "unavailable";
  /**
   * Since when it is deprecated; sent as the Deprecation header.
   */
  deprecated_at?: string;
  /**
   * When it will stop working; sent as the Sunset header.
   */
  sunset_at?: string;
  /**
   * What it can do. Requests that need something else are refused.
   *
   * @minItems 1
   */
  capabilities: (
    | "chat"
    | "streaming"
    | "vision"
    | "tools"
    | "json_schema"
    | "reasoning"
    | "text_to_image"
    | "image_to_image"
    | "text_to_video"
    | "image_to_video"
    | "audio_to_avatar"
    | "script"
    | "roles"
    | "storyboard"
    | "final_video"
    | "text_to_speech"
  )[];
  limits?: ModelLimits;
  /**
   * Ways to answer, tried by priority, then by weight. A drama has none: its chain names other models.
   *
   * @minItems 1
   * @maxItems 32
   */
  upstreams?: Upstream[];
  /**
   * Who sees and may use it. Left out: everybody.
   */
  visible_to?: {
    /**
     * Names from `plans`.
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
   * How long a task may take once an upstream has it; then it expires and nothing is charged.
   */
  deadline_seconds?: number;
  /**
   * When a client goes away in mid-stream: stop the upstream and bill what was produced, or drain it to the end.
   */
  on_disconnect?: "stop" | "drain";
  chain?: Chain;
}
/**
 * What a request may ask of it. Shown to clients as it is, and enforced.
 */
export interface ModelLimits {
  /**
   * Seconds that may be asked for.
   *
   * @minItems 1
   */
  durations?: number[];
  /**
   * Ratios such as 16:9.
   *
   * @minItems 1
   */
  aspect_ratios?: string[];
  /**
   * Characters of a prompt.
   */
  max_prompt_length?: number;
  /**
   * Picture sizes such as 1024x1024.
   *
   * @minItems 1
   */
  sizes?: string[];
  /**
   * Pictures per request.
   */
  max_count?: number;
  /**
   * Pictures a request may bring.
   */
  max_input_images?: number;
  /**
   * Voice ids.
   *
   * @minItems 1
   */
  voices?: string[];
  /**
   * Audio formats.
   *
   * @minItems 1
   */
  formats?: ("mp3" | "wav" | "pcm")[];
  /**
   * Characters of a drama.
   */
  max_characters?: number;
  /**
   * Shots of a drama.
   */
  max_shots?: number;
  /**
   * Tokens of prompt and answer together.
   */
  context_tokens?: number;
  /**
   * Tokens of an answer.
   */
  max_output_tokens?: number;
}
/**
 * One way to answer for a model.
 */
export interface Upstream {
  /**
   * A name from `providers`.
   */
  provider: string;
  /**
   * What the provider calls the model. Never shown to clients. Left out: the model's own id.
   */
  model?: string;
  /**
   * Lower is tried first.
   */
  priority?: number;
  /**
   * Share among upstreams of the same priority.
   */
  weight?: number;
  /**
   * How long one attempt may take.
   */
  timeout_seconds?: number;
  cost?: Cost;
  /**
   * Fields that are added to the body of every request, for what one of the provider's models wants beyond the rest, such as { quality: high }. They win over what the client asked for.
   */
  extra_body?: {};
}
/**
 * What the provider charges us. Private; used for margin reports and the price-below-cost warning.
 */
export interface Cost {
  price?: Amount;
  input_price?: Amount;
  output_price?: Amount;
  unit: Unit;
}
/**
 * How a drama is made: which declared model does each stage, and what it is asked.
 */
export interface Chain {
  /**
   * From the client's text to scenes with dialogue, one shot each.
   */
  script: {
    /**
     * A declared chat model.
     */
    model: string;
    /**
     * What it is asked, with {{title}}, {{script}}, {{characters}}, {{episode}}, {{aspect_ratio}}, {{shots_min}}, {{shots_max}} and, for roles, {{scenes}} filled in. Left out: a prompt that works.
     */
    prompt?: string;
    /**
     * A JSON Schema that the answer must meet beside the gateway's own, for fields of your own.
     */
    schema?: {};
    /**
     * The longest answer, in tokens.
     */
    max_output_tokens?: number;
  };
  /**
   * From the scenes to characters with looks.
   */
  roles?: {
    /**
     * A declared chat model.
     */
    model: string;
    /**
     * What it is asked, with {{title}}, {{script}}, {{characters}}, {{episode}}, {{aspect_ratio}}, {{shots_min}}, {{shots_max}} and, for roles, {{scenes}} filled in. Left out: a prompt that works.
     */
    prompt?: string;
    /**
     * A JSON Schema that the answer must meet beside the gateway's own, for fields of your own.
     */
    schema?: {};
    /**
     * The longest answer, in tokens.
     */
    max_output_tokens?: number;
  };
  /**
   * One picture for each shot.
   */
  storyboard?: {
    /**
     * A declared image model.
     */
    model: string;
    /**
     * What it is asked for a shot, with {{heading}}, {{action}}, {{looks}}, {{title}}, {{shot}}, {{shots}} and {{aspect_ratio}} filled in.
     */
    prompt?: string;
    /**
     * The size for each aspect ratio that the drama offers. Left out: the model's own default.
     */
    sizes?: {
      [k: string]: string;
    };
  };
  /**
   * One clip for each shot, spoken where declared, joined to one video.
   */
  video?: {
    /**
     * A declared video model.
     */
    model: string;
    /**
     * What it is asked for a shot; filled in as for the storyboard.
     */
    prompt?: string;
    /**
     * Seconds of each shot. Left out: the model's shortest.
     */
    duration?: number;
    /**
     * Who speaks the lines. Left out: nobody does.
     */
    speech?: {
      /**
       * A declared speech model.
       */
      model: string;
      /**
       * Voices, given to the characters in turn. Left out: those of the model.
       *
       * @minItems 1
       * @maxItems 100
       */
      voices?: string[];
      /**
       * The longest text spoken in one shot; the rest is left out.
       */
      max_characters?: number;
    };
  };
  /**
   * The fewest shots a script may have; the most are the model's max_shots.
   */
  min_shots?: number;
  /**
   * How often a text or a shot is tried before the drama fails.
   */
  tries?: number;
  /**
   * Shots of one drama that are made side by side.
   */
  shots_at_once?: number;
}
/**
 * Prices that apply together.
 */
export interface PriceBook {
  /**
   * Since when these prices hold. Entries may name a later moment of their own.
   */
  effective_at: string;
  /**
   * A book whose prices hold for models that this one does not list.
   */
  extends?: string;
  /**
   * One price per model; a second one with a later effective_at takes over by itself at that moment.
   *
   * @minItems 1
   */
  entries: Price[];
}
/**
 * The price of a model.
 */
export interface Price {
  /**
   * A model id.
   */
  model: string;
  /**
   * What is counted: tokens, calls (pictures, episodes, characters) or seconds.
   */
  billing_type: "token" | "per_call" | "duration";
  /**
   * A decimal amount in quotes, so that no digit is lost.
   */
  price?: string;
  /**
   * A decimal amount in quotes, so that no digit is lost.
   */
  input_price?: string;
  /**
   * A decimal amount in quotes, so that no digit is lost.
   */
  output_price?: string;
  /**
   * A decimal amount in quotes, so that no digit is lost.
   */
  cached_input_price?: string;
  /**
   * A decimal amount in quotes, so that no digit is lost.
   */
  reasoning_price?: string;
  unit: Unit;
  /**
   * A decimal amount in quotes, so that no digit is lost.
   */
  minimum_charge?: string;
  /**
   * From when this price holds. Left out: the book's.
   */
  effective_at?: string;
}
/**
 * One endpoint.
 */
export interface Route {
  /**
   * Path under /v1.
   */
  path: string;
  /**
   * What it does.
   */
  operation:
    | "list_models"
    | "retrieve_model"
    | "list_prices"
    | "retrieve_balance"
    | "usage"
    | "quotes"
    | "chat"
    | "files"
    | "generation"
    | "speech"
    | "tasks"
    | "webhook_endpoints"
    | "webhook_deliveries";
  /**
   * For `generation`: which models it runs.
   */
  type?: "image" | "video" | "avatar" | "drama" | "speech";
  /**
   * For `generation`: name of the request schema in schemas/requests. Left out: the one of its type.
   */
  request?: string;
  /**
   * released; preview (works, marked in the API document); planned (answers 501).
   */
  stage?: "released" | "preview" | "planned";
  /**
   * Since when it is deprecated; sent as the Deprecation header.
   */
  deprecated_at?: string;
  /**
   * When it will stop working; sent as the Sunset header.
   */
  sunset_at?: string;
}
/**
 * A provider of identities: GitHub, Google, or anything that speaks OpenID Connect.
 */
export interface SignInProvider {
  /**
   * Part of the callback's address, and of what is stored about people: keep it.
   */
  id: string;
  /**
   * What the button says after "Continue with". Left out, the kind's own name.
   */
  name?: string;
  /**
   * github and google know their addresses; oidc needs an issuer.
   */
  kind: "github" | "google" | "oidc";
  /**
   * Address of an OpenID Connect provider, where /.well-known/openid-configuration is found below.
   */
  issuer?: string;
  /**
   * Who we are to the provider. Empty switches it off.
   */
  client_id: string;
  client_secret: Secret;
}

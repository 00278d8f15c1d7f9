// Written by `deno task generate` from schemas/requests. Do not edit.
import admin_account_change from "./requests/admin_account_change.schema.json" with { type: "json" };
import admin_accounts from "./requests/admin_accounts.schema.json" with { type: "json" };
import admin_config_plan from "./requests/admin_config_plan.schema.json" with { type: "json" };
import admin_credits from "./requests/admin_credits.schema.json" with { type: "json" };
import admin_keys from "./requests/admin_keys.schema.json" with { type: "json" };
import admin_people from "./requests/admin_people.schema.json" with { type: "json" };
import admin_plan from "./requests/admin_plan.schema.json" with { type: "json" };
import admin_provider_test from "./requests/admin_provider_test.schema.json" with { type: "json" };
import admin_tokens from "./requests/admin_tokens.schema.json" with { type: "json" };
import admin_webhook_redeliver from "./requests/admin_webhook_redeliver.schema.json" with { type: "json" };
import audio_speech from "./requests/audio_speech.schema.json" with { type: "json" };
import avatars_generations from "./requests/avatars_generations.schema.json" with { type: "json" };
import chat_completions from "./requests/chat_completions.schema.json" with { type: "json" };
import dramas_generations from "./requests/dramas_generations.schema.json" with { type: "json" };
import embeddings from "./requests/embeddings.schema.json" with { type: "json" };
import images_generations from "./requests/images_generations.schema.json" with { type: "json" };
import messages from "./requests/messages.schema.json" with { type: "json" };
import quotes from "./requests/quotes.schema.json" with { type: "json" };
import responses from "./requests/responses.schema.json" with { type: "json" };
import videos_generations from "./requests/videos_generations.schema.json" with { type: "json" };
import webhook_endpoints from "./requests/webhook_endpoints.schema.json" with { type: "json" };
import webhook_redeliver from "./requests/webhook_redeliver.schema.json" with { type: "json" };
import webhook_rotate_secret from "./requests/webhook_rotate_secret.schema.json" with { type: "json" };

/** The schema of a request body; `Body` is the type of what fits it. */
export interface RequestSchema<Body> {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>> & { readonly title: string };
  /** Carries the type only. */
  readonly body?: Body;
}

export type AccountChange = {
  /**
   * Name of the account.
   */
  name?: string;
  /**
   * Email address of the owner; null removes it. People sign in with their own address, which stays.
   */
  email?: string | null;
  /**
   * Name of another plan, without an end. Its quotas are granted, and the rest of the old ones ends. The same plan changes nothing.
   */
  plan?: string;
  /**
   * Price book to use instead of the plan's; null removes it.
   */
  price_book?: string | null;
  /**
   * suspended: every request and session is refused, and streams end. closed: also ends keys, sessions, webhook endpoints and tasks, for ever; files are deleted after 30 days.
   */
  status?: "active" | "suspended" | "closed";
  /**
   * Why, for the audit log.
   */
  reason?: string;
};

export type NewAccount = {
  /**
   * Name of the account.
   */
  name: string;
  /**
   * Email address of the owner. It must be unique.
   */
  email?: string;
  /**
   * Name of a plan. Default: free.
   */
  plan?: string;
  /**
   * Price book to use instead of the plan's.
   */
  price_book?: string;
};

export type ConfigPlanRequest = {
  /**
   * Text of a configuration file. Without it, the active configuration.
   */
  source?: string;
  /**
   * Texts of the files that it names, by the name in it.
   */
  files?: {
    [k: string]: string;
  };
  /**
   * What to compare with: the active configuration, or the one that was in force before it.
   */
  against?: "active" | "previous";
};

export type NewCredit = {
  /**
   * cash: money that was paid in. gift: promotional credit. correction: changes the cash up or down, such as for a refund.
   */
  kind: "cash" | "gift" | "correction";
  /**
   * A decimal string above zero; of a correction also below zero, which takes money.
   */
  amount: string;
  /**
   * Your own unique reference. A repeated reference is booked only once.
   */
  reference: string;
  /**
   * When promotional credit expires. Default: never.
   */
  expires_at?: string;
  /**
   * Why a correction is made. The statement shows it.
   */
  reason?: string;
};

export type NewKey = {
  /**
   * Name of the key.
   */
  name: string;
  /**
   * When the key stops working; null: never.
   */
  expires_at?: string | null;
  /**
   * Ids of the models that it may use, and patterns in which * is any text; null: all models of the account.
   *
   * @maxItems 100
   */
  models?: string[] | null;
  /**
   * Rates of its own; those of the plan apply too. null: only those of the plan.
   */
  limits?: {
    /**
     * Requests per minute; null: as the plan has it.
     */
    requests_per_minute?: number | null;
    /**
     * Tokens per minute; null: as the plan has it.
     */
    tokens_per_minute?: number | null;
  } | null;
  /**
   * Addresses and networks (CIDR, IPv4 and IPv6) that its requests may come from; null: any.
   *
   * @maxItems 100
   */
  allowed_ips?: string[] | null;
  /**
   * Whether bodies of its requests may be kept in the request log, where the operator does that. Default: true.
   */
  log_bodies?: boolean;
  /**
   * What the key may spend; null: as much as the account has.
   */
  budget?: {
    /**
     * What it may spend in each period, as a decimal string above zero.
     */
    amount: string;
    /**
     * total: once. day, week, month: by UTC; a week begins on Monday.
     */
    period: "total" | "day" | "week" | "month";
  } | null;
};

export type PersonChange = {
  /**
   * Whether the person is an operator in the console.
   */
  operator: boolean;
};

export type NewPlan = {
  /**
   * Name of a plan.
   */
  plan: string;
  /**
   * When the plan ends. Default: it renews every month.
   */
  expires_at?: string;
};

export type ProviderTestRequest = {
  /**
   * Id of a model for chat or embeddings that the provider serves. Without it, the first one for chat in the configuration, or else the first one for embeddings.
   */
  model?: string;
};

export type NewAdminToken = {
  /**
   * Name of the token: who or what uses it.
   */
  name: string;
  /**
   * What the token may do. read: every list and detail. money: credits, plans and price books. configuration: reload the configuration. support: accounts, API keys, passwords, tasks and webhooks.
   *
   * @minItems 1
   */
  scopes: ("read" | "money" | "configuration" | "support")[];
};

export type AdminWebhookRedelivery = {
  /**
   * All deliveries that failed since this time are sent again.
   */
  since: string;
  /**
   * Only deliveries of this account.
   */
  account?: string;
  /**
   * Only deliveries to this endpoint.
   */
  endpoint?: string;
};

export type SpeechRequest = {
  /**
   * Id from the model list.
   */
  model: string;
  /**
   * The text to speak. The model's max_prompt_length limits its characters.
   */
  input: string;
  /**
   * One of the model's voices.
   */
  voice: string;
  /**
   * mp3; wav; or pcm: 24 kHz, 16 bit, mono, without a header.
   */
  response_format?: "mp3" | "wav" | "pcm";
  /**
   * Speed of the speech. 1 is the normal speed of the voice.
   */
  speed?: number;
  /**
   * Your own id of the end user, which the receipt keeps. Not sent to providers.
   */
  user?: string;
  /**
   * Your own names and values, which the receipt keeps: up to 16 names of up to 64 characters, with values of up to 512. Not sent to providers.
   */
  metadata?: Record<string, unknown>;
  /**
   * Public https URL that gets an event when the task ends, instead of the account's webhook endpoints.
   */
  callback_url?: string;
};

export type AvatarRequest = {
  /**
   * Id from the model list.
   */
  model: string;
  /**
   * The person: an uploaded image or video.
   */
  avatar_file_id: string;
  /**
   * The speech of the person: an uploaded audio file. The video has the same duration.
   */
  audio_file_id: string;
  /**
   * One of the model's aspect_ratios. Default: the first.
   */
  aspect_ratio?: string;
  /**
   * Your own id of the end user, which the receipt keeps. Not sent to providers.
   */
  user?: string;
  /**
   * Your own names and values, which the receipt keeps: up to 16 names of up to 64 characters, with values of up to 512. Not sent to providers.
   */
  metadata?: Record<string, unknown>;
  /**
   * Public https URL that gets an event when the task ends, instead of the account's webhook endpoints.
   */
  callback_url?: string;
};

/**
 * OpenAI's Chat Completions request. The capabilities and limits of the model decide which features it supports. Fields that are not listed are left out; the response header `x-ignored-fields` names them.
 */
export type ChatRequest = {
  /**
   * A model id from /v1/models.
   */
  model: string;
  /**
   * The conversation so far, oldest message first.
   *
   * @minItems 1
   * @maxItems 4096
   */
  messages: {
    /**
     * Author of the message. `developer` is a newer name of `system`, `function` an older one of `tool`.
     */
    role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
    /**
     * Text, or a list of parts: `text`, and for models with the capability `image_url` (`vision`), `file` (a PDF as data URL in `file.file_data`; `files`) and `input_audio` (`audio_input`). Null only in an assistant message with tool calls or a refusal.
     */
    content?:
      | string
      | {
          /**
           * Type of the part: `text`, `image_url`, `file` or `input_audio`.
           */
          type: string;
        }[]
      | null;
    /**
     * Name of the author, to tell participants of the same role apart.
     */
    name?: string;
    /**
     * Why the model refused, as it was received.
     */
    refusal?: string;
    /**
     * Not supported: the endpoint handles text and images.
     */
    audio?: Record<string, unknown>;
    /**
     * Tool calls of the model, as they were received.
     */
    tool_calls?: Record<string, unknown>[];
    /**
     * Function call of the model, as it was received; predecessor of `tool_calls`.
     */
    function_call?: Record<string, unknown>;
    /**
     * In a `tool` message: the id of the tool call that it answers.
     */
    tool_call_id?: string;
  }[];
  /**
   * Whether the answer is sent as server-sent events while it is made. Default: false.
   */
  stream?: boolean;
  /**
   * Options for a stream.
   */
  stream_options?: {
    /**
     * Whether the last chunk of the stream has the token counts.
     */
    include_usage?: boolean;
  };
  /**
   * Maximum number of output tokens; older name of `max_completion_tokens`.
   */
  max_tokens?: number;
  /**
   * Maximum number of output tokens, reasoning included. Default: the limit of the model, which a larger number is lowered to. It decides how much is held before the request is sent.
   */
  max_completion_tokens?: number;
  /**
   * Number of answers. Each of them is charged. Default: 1.
   */
  n?: number;
  /**
   * Randomness of the answer: 0 is almost deterministic, 2 very random.
   */
  temperature?: number;
  /**
   * Alternative to temperature: only the most likely tokens with this total probability are considered.
   */
  top_p?: number;
  /**
   * Only this many most likely tokens are considered, where the provider supports it.
   */
  top_k?: number;
  /**
   * Only tokens with at least this fraction of the most likely token's probability are considered, where the provider supports it.
   */
  min_p?: number;
  /**
   * As `min_p`, with the square of the probability, where the provider supports it.
   */
  top_a?: number;
  /**
   * Above 1 the model repeats itself less, where the provider supports it.
   */
  repetition_penalty?: number;
  /**
   * Text, or list of texts, at which the answer ends. The text itself is not part of the answer.
   *
   * @maxItems 16
   */
  stop?: string | string[];
  /**
   * The same seed and request give similar answers, where the provider supports it.
   */
  seed?: number;
  /**
   * Positive values make the model talk about new topics.
   */
  presence_penalty?: number;
  /**
   * Positive values make the model repeat itself less.
   */
  frequency_penalty?: number;
  /**
   * Bias from -100 to 100 for single tokens, by token id of the model.
   */
  logit_bias?: Record<string, unknown>;
  /**
   * Whether the response has log probabilities of the output tokens.
   */
  logprobs?: boolean;
  /**
   * Number of most likely tokens to report at each position; needs `logprobs`.
   */
  top_logprobs?: number;
  /**
   * Functions that the model may call; needs the capability `tools`.
   *
   * @maxItems 512
   */
  tools?: Record<string, unknown>[];
  /**
   * `auto`, `none`, `required`, or the function that the model must call.
   */
  tool_choice?: string | Record<string, unknown>;
  /**
   * Whether the model may call several tools in one answer.
   */
  parallel_tool_calls?: boolean;
  /**
   * Predecessor of `tools`.
   *
   * @maxItems 512
   */
  functions?: Record<string, unknown>[];
  /**
   * Predecessor of `tool_choice`.
   */
  function_call?: string | Record<string, unknown>;
  /**
   * Format of the answer; JSON needs the capability `json_schema`.
   */
  response_format?: {
    /**
     * `text`; `json_object`: any JSON; `json_schema`: JSON that fits `json_schema.schema`.
     */
    type: "text" | "json_object" | "json_schema";
  };
  /**
   * How much the model reasons before it answers; needs the capability `reasoning`, except `none`.
   */
  reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
  /**
   * `reasoning_effort` in OpenRouter's form. Left out for a model without the capability `reasoning`.
   */
  reasoning?: {
    /**
     * The same as `reasoning_effort`.
     */
    effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
    /**
     * Tokens for reasoning, instead of a level.
     */
    max_tokens?: number;
    /**
     * False: the same as the effort `none`.
     */
    enabled?: boolean;
  };
  /**
   * The same in Anthropic's form.
   */
  thinking?: {
    /**
     * Whether the model reasons.
     */
    type: "enabled" | "adaptive" | "disabled";
    /**
     * Tokens for reasoning.
     */
    budget_tokens?: number;
  };
  /**
   * How long the answer should be.
   */
  verbosity?: "low" | "medium" | "high";
  /**
   * Only `["text"]` is supported.
   */
  modalities?: string[];
  /**
   * Not supported: see POST /v1/audio/speech.
   */
  audio?: Record<string, unknown>;
  /**
   * Options for moderation, passed on to providers that support them.
   */
  moderation?: Record<string, unknown>;
  /**
   * Text that most of the answer is expected to equal, to speed it up where the provider supports it.
   */
  prediction?: Record<string, unknown>;
  /**
   * Options for web search, where the provider supports it.
   */
  web_search_options?: Record<string, unknown>;
  /**
   * Your own keys and values, passed on to providers that store them.
   */
  metadata?: Record<string, unknown>;
  /**
   * Whether the provider may store the answer, where it supports that.
   */
  store?: boolean;
  /**
   * Your own id of the end user, which helps the provider to detect abuse.
   */
  user?: string;
  /**
   * Your own id of the end user, hashed; newer name of `user`.
   */
  safety_identifier?: string;
  /**
   * `stream_options` in OpenRouter's form.
   */
  usage?: {
    /**
     * The same as `stream_options.include_usage`.
     */
    include?: boolean;
  };
  /**
   * Anthropic's mark for the whole prompt, where the provider caches by marks. Messages, parts and tools may have their own.
   */
  cache_control?: Record<string, unknown>;
  /**
   * Requests with the same key are more likely to use the same prompt cache.
   */
  prompt_cache_key?: string;
  /**
   * Options for the prompt cache, where the provider supports them.
   */
  prompt_cache_options?: Record<string, unknown>;
  /**
   * How long the prompt stays cached, where the provider supports it.
   */
  prompt_cache_retention?: string;
  /**
   * Processing tier, where the provider supports it.
   */
  service_tier?: string;
};

export type DramaRequest = {
  /**
   * Id from the model list.
   */
  model: string;
  /**
   * Name of the series. Default with from_task: that of the earlier task.
   */
  title?: string;
  /**
   * The story: an outline, prose or a finished script. Default with from_task: that of the earlier task. The model's max_prompt_length limits its characters.
   */
  script?: string;
  /**
   * Characters of the drama. Default: the characters of the story.
   *
   * @minItems 1
   * @maxItems 200
   */
  characters?: {
    /**
     * Name of the character in the story.
     */
    name: string;
    /**
     * Id of an uploaded image that shows the character.
     */
    reference_file_id?: string;
  }[];
  /**
   * Number of the episode. Default: 1.
   */
  episode?: number;
  /**
   * One of the model's aspect_ratios. Default: the first.
   */
  aspect_ratio?: string;
  /**
   * The last stage to run. Default: all stages, up to the final video.
   */
  stage?: "script" | "roles" | "storyboard" | "video";
  /**
   * Id of an earlier drama task of this account. Its finished stages are reused and not charged again.
   */
  from_task?: string;
  /**
   * Your own id of this drama, in visible ASCII characters. A repeated id creates only one task. Can be used instead of Idempotency-Key.
   */
  business_id?: string;
  /**
   * Your own id of the end user, which the receipt keeps. Not sent to providers.
   */
  user?: string;
  /**
   * Your own names and values, which the receipt keeps: up to 16 names of up to 64 characters, with values of up to 512. Not sent to providers.
   */
  metadata?: Record<string, unknown>;
  /**
   * Public https URL that gets an event when the task ends, instead of the account's webhook endpoints. One of the two is required for stage video and for all stages.
   */
  callback_url?: string;
};

/**
 * OpenAI's Embeddings request. Fields that are not listed are left out; the response header `x-ignored-fields` names them.
 */
export type EmbeddingsRequest = {
  /**
   * Id of a model of type `embedding`.
   */
  model: string;
  /**
   * A text, or a list of texts; or the tokens of one text, or a list of such. The model's `max_inputs` limits their number and `max_input_tokens` the length of each.
   *
   * @minItems 1
   */
  input: string | (string | number | number[])[];
  /**
   * `float`: each vector is a list of numbers. `base64`: the bytes of its 32-bit floats, little-endian, which is smaller and faster to read.
   */
  encoding_format?: "float" | "base64";
  /**
   * Length of the vectors, for models with `max_dimensions`. Default: decided by the model.
   */
  dimensions?: number;
  /**
   * Your own id of the end user.
   */
  user?: string;
  /**
   * Your own names and values, which the receipt keeps: up to 16 names of up to 64 characters, with values of up to 512. Not sent to providers.
   */
  metadata?: Record<string, unknown>;
};

export type ImageRequest = {
  /**
   * Id from the model list.
   */
  model: string;
  /**
   * Description of the output. The model's max_prompt_length limits its characters.
   */
  prompt: string;
  /**
   * Width and height in pixels, such as 1024x1024: one of the model's sizes. Default, and with `auto`: the first.
   */
  size?: string;
  /**
   * Quality of the images: one of the model's qualities. Default, and with `auto`: the first. Models without qualities do not take it.
   */
  quality?: string;
  /**
   * One of the model's aspect_ratios. Default: the first.
   */
  aspect_ratio?: string;
  /**
   * Number of images, at most the model's max_count.
   */
  n?: number;
  /**
   * Input images: public https URLs or ids of uploaded files.
   *
   * @minItems 1
   * @maxItems 32
   */
  input_images?: string[];
  /**
   * The response waits for the images and has them in `data`, as OpenAI's does: as URLs, or in base64.
   */
  response_format?: "url" | "b64_json";
  /**
   * Of OpenAI's API; left out.
   */
  style?: string;
  /**
   * Of OpenAI's API; left out.
   */
  background?: string;
  /**
   * Of OpenAI's API; left out.
   */
  moderation?: string;
  /**
   * Of OpenAI's API; left out: the model decides.
   */
  output_format?: string;
  /**
   * Of OpenAI's API; left out.
   */
  output_compression?: number;
  /**
   * Your own id of the end user, which the receipt keeps. Not sent to providers.
   */
  user?: string;
  /**
   * Your own names and values, which the receipt keeps: up to 16 names of up to 64 characters, with values of up to 512. Not sent to providers.
   */
  metadata?: Record<string, unknown>;
  /**
   * Public https URL that gets an event when the task ends, instead of the account's webhook endpoints.
   */
  callback_url?: string;
};

/**
 * Anthropic's Messages request. The capabilities and limits of the model decide which features it supports. Fields that are not listed are left out; the response header `x-ignored-fields` names them.
 */
export type MessagesRequest = {
  /**
   * A model id from /v1/models.
   */
  model: string;
  /**
   * The conversation so far, oldest message first.
   *
   * @minItems 1
   * @maxItems 4096
   */
  messages: {
    /**
     * Author of the message.
     */
    role: "user" | "assistant" | "system";
    /**
     * Text, or a list of blocks: `text`, `image`, `document`, `search_result` and `tool_result` of the user; `text`, `thinking`, `redacted_thinking` and `tool_use` of the assistant.
     */
    content:
      | string
      | {
          /**
           * Type of the block.
           */
          type: string;
        }[];
  }[];
  /**
   * Instructions: text, or a list of `text` blocks.
   */
  system?: string | Record<string, unknown>[];
  /**
   * Maximum number of output tokens, reasoning included. Default: the limit of the model. It decides how much is held before the request is sent.
   */
  max_tokens?: number;
  /**
   * Whether the answer is sent as server-sent events while it is made. Default: false.
   */
  stream?: boolean;
  /**
   * Randomness of the answer.
   */
  temperature?: number;
  /**
   * Alternative to temperature: only the most likely tokens with this total probability are considered.
   */
  top_p?: number;
  /**
   * Only so many of the most likely tokens are considered, where the provider supports it.
   */
  top_k?: number;
  /**
   * Texts at which the answer ends.
   *
   * @maxItems 16
   */
  stop_sequences?: string[];
  /**
   * Tools that the model may call, each with `name`, `description` and `input_schema`; needs the capability `tools`.
   *
   * @maxItems 512
   */
  tools?: Record<string, unknown>[];
  /**
   * How the tools are used.
   */
  tool_choice?: {
    /**
     * Whether a tool may, must or must not be called.
     */
    type: "auto" | "any" | "tool" | "none";
    /**
     * With `tool`: its name.
     */
    name?: string;
    /**
     * Whether at most one tool is called.
     */
    disable_parallel_tool_use?: boolean;
  };
  /**
   * Reasoning of models with the capability `reasoning`; left out for others.
   */
  thinking?: {
    /**
     * Whether the model reasons before it answers, and shows it.
     */
    type: "enabled" | "adaptive" | "disabled";
    /**
     * With `enabled`: how many tokens it may use for that.
     */
    budget_tokens?: number;
  };
  /**
   * How the answer looks.
   */
  output_config?: {
    /**
     * How much the model reasons.
     */
    effort?: "low" | "medium" | "high" | "xhigh" | "max";
    /**
     * `json_schema` with a `schema` that the answer fits; needs the capability `json_schema`.
     */
    format?: Record<string, unknown>;
  };
  /**
   * Older name of `output_config.format`.
   */
  output_format?: Record<string, unknown>;
  /**
   * Who the request is for.
   */
  metadata?: {
    /**
     * Your own id of the end user.
     */
    user_id?: string;
  };
  /**
   * Where the prompt cache may end, for providers that ask for it. Blocks and tools may have their own.
   */
  cache_control?: Record<string, unknown>;
  /**
   * Must be empty: connect to MCP servers in your client.
   */
  mcp_servers?: unknown[];
};

export type QuoteRequest = {
  /**
   * Path of the endpoint, such as /images/generations.
   */
  path: string;
  /**
   * Body of the request to estimate.
   */
  body: Record<string, unknown>;
};

/**
 * OpenAI's Responses request. The capabilities and limits of the model decide which features it supports. Fields that are not listed are left out; the response header `x-ignored-fields` names them.
 */
export type ResponsesRequest = {
  /**
   * A model id from /v1/models.
   */
  model: string;
  /**
   * Text of the user, or a list of items: messages, `function_call`, `function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning` and `item_reference`.
   *
   * @maxItems 4096
   */
  input?: string | Record<string, unknown>[];
  /**
   * Instructions in front of the input. Those of a previous response do not count.
   */
  instructions?: string;
  /**
   * Whether the answer is sent as server-sent events while it is made. Default: false.
   */
  stream?: boolean;
  /**
   * Options for a stream.
   */
  stream_options?: Record<string, unknown>;
  /**
   * Whether the response is kept, to be retrieved and continued. Default: true.
   */
  store?: boolean;
  /**
   * A stored response that this one continues.
   */
  previous_response_id?: string;
  /**
   * Maximum number of output tokens, reasoning included. Default: the limit of the model. It decides how much is held before the request is sent.
   */
  max_output_tokens?: number;
  /**
   * Randomness of the answer.
   */
  temperature?: number;
  /**
   * Alternative to temperature: only the most likely tokens with this total probability are considered.
   */
  top_p?: number;
  /**
   * Tools of type `function`, `custom` and `namespace` (a group of them) that the model may call; needs the capability `tools`. Web search and image generation of OpenAI are left out.
   *
   * @maxItems 512
   */
  tools?: Record<string, unknown>[];
  /**
   * `auto`, `none`, `required`, or the tools that the model may or must call.
   */
  tool_choice?: string | Record<string, unknown>;
  /**
   * Whether the model may call several tools in one answer.
   */
  parallel_tool_calls?: boolean;
  /**
   * Without effect: it limits tools that OpenAI runs itself.
   */
  max_tool_calls?: number;
  /**
   * How the answer looks.
   */
  text?: {
    /**
     * `text`, `json_object`, or `json_schema` with `name` and `schema`; JSON needs the capability `json_schema`.
     */
    format?: Record<string, unknown>;
    /**
     * How long the answer should be.
     */
    verbosity?: "low" | "medium" | "high";
  };
  /**
   * Reasoning before the answer.
   */
  reasoning?: {
    /**
     * How much the model reasons; left out for models without the capability `reasoning`.
     */
    effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
    /**
     * Shows the reasoning, where the provider shows it.
     */
    summary?: "auto" | "concise" | "detailed";
    /**
     * Older name of `summary`.
     */
    generate_summary?: string;
  };
  /**
   * `reasoning.encrypted_content`: reasoning in a form that can be sent back. `message.output_text.logprobs`: log probabilities.
   */
  include?: string[];
  /**
   * Number of most likely tokens at each position, with `message.output_text.logprobs`.
   */
  top_logprobs?: number;
  /**
   * Without effect: nothing is cut off.
   */
  truncation?: string;
  /**
   * Your own keys and values, kept with the response.
   */
  metadata?: Record<string, unknown>;
  /**
   * Your own id of the end user.
   */
  user?: string;
  /**
   * Your own id of the end user, hashed; newer name of `user`.
   */
  safety_identifier?: string;
  /**
   * Requests with the same key are more likely to use the same prompt cache.
   */
  prompt_cache_key?: string;
  /**
   * How long the prompt stays cached, where the provider supports it.
   */
  prompt_cache_retention?: string;
  /**
   * Processing tier, where the provider supports it.
   */
  service_tier?: string;
  /**
   * Whether to return at once and make the response as a task. Needs store; excludes stream.
   */
  background?: boolean;
  /**
   * Not supported: send `previous_response_id`.
   */
  conversation?: string | Record<string, unknown>;
  /**
   * Not supported: send `instructions`.
   */
  prompt?: Record<string, unknown>;
};

export type VideoRequest = {
  /**
   * Id from the model list.
   */
  model: string;
  /**
   * Description of the output. The model's max_prompt_length limits its characters.
   */
  prompt: string;
  /**
   * Duration in seconds: one of the model's durations. Default: the first.
   */
  duration?: number;
  /**
   * One of the model's aspect_ratios. Default: the first.
   */
  aspect_ratio?: string;
  /**
   * Resolution of the video, such as 1080p: one of the model's resolutions. Default: the first. Models without resolutions do not take it.
   */
  resolution?: string;
  /**
   * Whether the video has sound. Default: false. Only models with the capability `audio` take it.
   */
  audio?: boolean;
  /**
   * Input images: public https URLs or ids of uploaded files.
   *
   * @minItems 1
   * @maxItems 32
   */
  input_images?: string[];
  /**
   * Your own id of the end user, which the receipt keeps. Not sent to providers.
   */
  user?: string;
  /**
   * Your own names and values, which the receipt keeps: up to 16 names of up to 64 characters, with values of up to 512. Not sent to providers.
   */
  metadata?: Record<string, unknown>;
  /**
   * Public https URL that gets an event when the task ends, instead of the account's webhook endpoints.
   */
  callback_url?: string;
};

export type NewWebhookEndpoint = {
  /**
   * URL for events: a public https URL of at most 2048 characters.
   */
  url: string;
  /**
   * Description of the endpoint.
   */
  description?: string;
  /**
   * Event types to send. Default: all types.
   *
   * @minItems 1
   */
  event_types?: (
    | "task.succeeded"
    | "task.failed"
    | "task.cancelled"
    | "task.expired"
    | "response.completed"
    | "response.incomplete"
    | "response.failed"
    | "response.cancelled"
  )[];
};

export type WebhookRedelivery = {
  /**
   * All deliveries that failed since this time are sent again.
   */
  since: string;
};

export type WebhookRotation = {
  /**
   * Seconds during which the previous secret also signs events. Use 0 for a secret that has leaked.
   */
  overlap_seconds?: number;
};

/** Every request schema, by the name of its file. */
export const REQUESTS = {
  admin_account_change: { name: "admin_account_change", schema: admin_account_change } as RequestSchema<AccountChange>,
  admin_accounts: { name: "admin_accounts", schema: admin_accounts } as RequestSchema<NewAccount>,
  admin_config_plan: { name: "admin_config_plan", schema: admin_config_plan } as RequestSchema<ConfigPlanRequest>,
  admin_credits: { name: "admin_credits", schema: admin_credits } as RequestSchema<NewCredit>,
  admin_keys: { name: "admin_keys", schema: admin_keys } as RequestSchema<NewKey>,
  admin_people: { name: "admin_people", schema: admin_people } as RequestSchema<PersonChange>,
  admin_plan: { name: "admin_plan", schema: admin_plan } as RequestSchema<NewPlan>,
  admin_provider_test: { name: "admin_provider_test", schema: admin_provider_test } as RequestSchema<ProviderTestRequest>,
  admin_tokens: { name: "admin_tokens", schema: admin_tokens } as RequestSchema<NewAdminToken>,
  admin_webhook_redeliver: { name: "admin_webhook_redeliver", schema: admin_webhook_redeliver } as RequestSchema<AdminWebhookRedelivery>,
  audio_speech: { name: "audio_speech", schema: audio_speech } as RequestSchema<SpeechRequest>,
  avatars_generations: { name: "avatars_generations", schema: avatars_generations } as RequestSchema<AvatarRequest>,
  chat_completions: { name: "chat_completions", schema: chat_completions } as RequestSchema<ChatRequest>,
  dramas_generations: { name: "dramas_generations", schema: dramas_generations } as RequestSchema<DramaRequest>,
  embeddings: { name: "embeddings", schema: embeddings } as RequestSchema<EmbeddingsRequest>,
  images_generations: { name: "images_generations", schema: images_generations } as RequestSchema<ImageRequest>,
  messages: { name: "messages", schema: messages } as RequestSchema<MessagesRequest>,
  quotes: { name: "quotes", schema: quotes } as RequestSchema<QuoteRequest>,
  responses: { name: "responses", schema: responses } as RequestSchema<ResponsesRequest>,
  videos_generations: { name: "videos_generations", schema: videos_generations } as RequestSchema<VideoRequest>,
  webhook_endpoints: { name: "webhook_endpoints", schema: webhook_endpoints } as RequestSchema<NewWebhookEndpoint>,
  webhook_redeliver: { name: "webhook_redeliver", schema: webhook_redeliver } as RequestSchema<WebhookRedelivery>,
  webhook_rotate_secret: { name: "webhook_rotate_secret", schema: webhook_rotate_secret } as RequestSchema<WebhookRotation>,
};

/** An error with OpenAI's text and JSON shape. */
export class WireError extends Error {
  type = "invalid_request_error";

  constructor(
    readonly status: number,
    message: string,
    readonly param: string | null = null,
    readonly code: string | null = null,
  ) {
    super(message);
  }

  withType(type: string): this {
    this.type = type;
    return this;
  }

  get body(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ error: { message, type, param, code } }, null, 2);
  }
}

/** OpenAI's error for a status that does not depend on the request's content. */
export function errorOf(status: number): WireError {
  switch (status) {
    case 401:
      return new WireError(401, "Incorrect API key provided.", null, "invalid_api_key");
    case 403:
      return new WireError(
        403,
        "Country, region, or territory not supported",
        null,
        "unsupported_country_region_territory",
      ).withType("request_forbidden");
    case 429:
      return new WireError(
        429,
        "Rate limit reached for this model on requests per min (RPM). Please try again shortly.",
        null,
        "rate_limit_exceeded",
      ).withType("requests");
    case 503:
      return new WireError(
        503,
        "The engine is currently overloaded, please try again later",
      ).withType("service_unavailable");
    default:
      return status < 500
        ? new WireError(status, `The simulator answers ${status}, as a directive says.`)
        : new WireError(
          status,
          "The server had an error while processing your request. Sorry about that!",
        ).withType("server_error");
  }
}

import { ApiError } from "../../lib/api_error.ts";
import { isPublicAddress } from "./addresses.ts";
import { PRIVATE_ADDRESS, unsafe } from "./check_url.ts";
import { type Resolve, resolveHost } from "./resolve.ts";
import { withTimeout } from "../../lib/timers.ts";

export interface PublicHostsOptions {
  resolve?: Resolve;
  /** How long a host name may take to resolve. */
  timeoutMs?: number;
  /** How long an answer is used again. */
  keepMs?: number;
  now?: () => number;
}

/** An image that an upstream will fetch, and where the client named it. */
export interface ImageLink {
  readonly url: string;
  readonly param: string;
}

type Reach = "public" | "private" | "unresolved";

const HOSTS_MAX = 20;
const KEPT_MAX = 1_000;

/**
 * Checks that the host names of linked images lead to public addresses only: the upstream that fetches them
 * may stand in our network. The upstream resolves the name again, later and by itself, so an answer that
 * changes in between is not caught here; an upstream in a private network needs a firewall of its own.
 * A name that does not resolve is refused too: it may exist in the upstream's network alone.
 */
export class PublicHosts {
  readonly #kept = new Map<string, { reach: Promise<Reach>; until: number }>();
  readonly #resolve: Resolve;
  readonly #timeoutMs: number;
  readonly #keepMs: number;
  readonly #now: () => number;

  constructor(options: PublicHostsOptions = {}) {
    this.#resolve = options.resolve ?? resolveHost;
    this.#timeoutMs = options.timeoutMs ?? 2_000;
    this.#keepMs = options.keepMs ?? 30_000;
    this.#now = options.now ?? (() => performance.now());
  }

  async check(images: readonly ImageLink[]): Promise<void> {
    const params = new Map(images.map(({ url, param }) => [new URL(url).hostname, param]));
    if (params.size > HOSTS_MAX) {
      throw new ApiError(
        "invalid_value",
        `Images of one request may be at ${HOSTS_MAX} hosts: send the others as data: URLs.`,
        { param: "messages" },
      );
    }
    await Promise.all([...params].map(async ([host, param]) => {
      const reach = await this.#reachOf(host);
      if (reach === "private") throw unsafe(PRIVATE_ADDRESS, param);
      if (reach === "unresolved") {
        throw unsafe("names a host that cannot be found", param, "Send a data: URL instead.");
      }
    }));
  }

  #reachOf(host: string): Promise<Reach> {
    const now = this.#now();
    const known = this.#kept.get(host);
    if (known !== undefined && known.until > now) return known.reach;
    if (this.#kept.size >= KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    const reach = this.#lookUp(host);
    this.#kept.delete(host);
    this.#kept.set(host, { reach, until: now + this.#keepMs });
    return reach;
  }

  async #lookUp(host: string): Promise<Reach> {
    // A name that cannot be resolved rejects: that is an answer here.
    const resolved = this.#resolve(host).catch(() => []);
    const addresses = await withTimeout(resolved, this.#timeoutMs, () => []);
    if (addresses.length === 0) {
      // It may well be found the next time.
      this.#kept.delete(host);
      return "unresolved";
    }
    return addresses.every(isPublicAddress) ? "public" : "private";
  }
}

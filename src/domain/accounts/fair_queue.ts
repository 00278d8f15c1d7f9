/** The client of an entry. `isKnown`: a device that has signed in before; it has priority. */
export interface PasswordCaller {
  readonly client: string;
  readonly isKnown?: boolean;
}

export interface FairQueueLimits {
  /** Waiting for one client. */
  perClient: number;
  /** Waiting in all. */
  total: number;
}

/**
 * Round robin over clients, so that a client with many entries delays only itself. When the queue is full, the client
 * with the most entries loses its newest one, so that a flood from some addresses does not block others.
 */
export class FairQueue<T> {
  readonly #known = new Map<string, T[]>();
  readonly #others = new Map<string, T[]>();
  #size = 0;

  constructor(
    private readonly limits: FairQueueLimits,
    private readonly drop: (entry: T) => void,
  ) {}

  /** False if the queue is full. */
  push({ client, isKnown = false }: PasswordCaller, entry: T): boolean {
    const queues = isKnown ? this.#known : this.#others;
    const own = queues.get(client)?.length ?? 0;
    if (own >= this.limits.perClient) return false;
    if (this.#size >= this.limits.total && !this.#dropFromLongest(own + (isKnown ? 0 : 1))) {
      return false;
    }
    const queue = queues.get(client);
    if (queue === undefined) queues.set(client, [entry]);
    else queue.push(entry);
    this.#size++;
    return true;
  }

  /** The next entry: known clients first, and within each group the client that waited longest. */
  shift(): T | undefined {
    const queues = this.#known.size > 0 ? this.#known : this.#others;
    const first = queues.entries().next();
    if (first.done) return undefined;
    const [client, queue] = first.value;
    const entry = queue.shift()!;
    queues.delete(client);
    if (queue.length > 0) queues.set(client, queue);
    this.#size--;
    return entry;
  }

  clear(): T[] {
    const all = [...this.#known.values(), ...this.#others.values()].flat();
    this.#known.clear();
    this.#others.clear();
    this.#size = 0;
    return all;
  }

  /** Drops the newest entry of the client with the most entries, if it has more than `limit`. */
  #dropFromLongest(limit: number): boolean {
    let longest: [client: string, queue: T[]] | undefined;
    for (const each of this.#others) {
      if (each[1].length > (longest?.[1].length ?? limit)) longest = each;
    }
    if (longest === undefined) return false;
    const [client, queue] = longest;
    const entry = queue.pop()!;
    if (queue.length === 0) this.#others.delete(client);
    this.#size--;
    this.drop(entry);
    return true;
  }
}

/** Who asks. `isKnown` goes before all others: a device that has signed in before. */
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
 * Clients take turns, whatever each has waiting: who asks a lot waits for itself. When it is full the client
 * with most waiting loses its newest entry, so that a flood from some addresses does not keep others out.
 */
export class FairQueue<T> {
  readonly #known = new Map<string, T[]>();
  readonly #others = new Map<string, T[]>();
  #size = 0;

  constructor(
    private readonly limits: FairQueueLimits,
    private readonly drop: (entry: T) => void,
  ) {}

  /** False when there is no place for it. */
  push({ client, isKnown = false }: PasswordCaller, entry: T): boolean {
    const queues = isKnown ? this.#known : this.#others;
    const own = queues.get(client)?.length ?? 0;
    if (own >= this.limits.perClient) return false;
    if (this.#size >= this.limits.total && !this.#makePlace(own + (isKnown ? 0 : 1))) return false;
    const queue = queues.get(client);
    if (queue === undefined) queues.set(client, [entry]);
    else queue.push(entry);
    this.#size++;
    return true;
  }

  /** The next entry: known clients first, and among each kind the one that waited longest for its turn. */
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

  /** Takes the newest entry of the client with most waiting, if that is more than `most`. */
  #makePlace(most: number): boolean {
    let longest: [client: string, queue: T[]] | undefined;
    for (const each of this.#others) {
      if (each[1].length > (longest?.[1].length ?? most)) longest = each;
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

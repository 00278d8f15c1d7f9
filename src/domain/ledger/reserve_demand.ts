/** Money and units of quota, both counted in 10⁻¹². */
export interface Amounts {
  money: bigint;
  units: bigint;
}

export const NONE: Amounts = Object.freeze({ money: 0n, units: 0n });

interface Window {
  requests: number;
  /** Requests that could not draw. */
  missed: number;
  spent: Amounts;
  worst: Amounts;
  /** The most that was drawn at one time. */
  peak: Amounts;
}

const WINDOW_MS = 1_000;
/** What a reserve has beyond the rest, so that a request that is larger than usual finds room. */
const SPARE_REQUESTS = 4n;

/** What an account's requests on this node have needed during the last seconds. */
export class ReserveDemand {
  #current = newWindow();
  #before = newWindow();
  #endsAt = 0;
  #drawn: Amounts = { money: 0n, units: 0n };
  lastAt = 0;

  /** So many requests within the two windows are worth a reserve. */
  constructor(private readonly requestsMin: number) {}

  /** A request begins. */
  begin(worst: Amounts, isDrawn: boolean, now: number): void {
    const window = this.#at(now);
    this.lastAt = now;
    window.requests++;
    raise(window.worst, worst);
    if (!isDrawn) {
      window.missed++;
      return;
    }
    add(this.#drawn, worst, 1n);
    raise(window.peak, this.#drawn);
  }

  /** A request that has drawn ends. */
  end(worst: Amounts, spent: Amounts, now: number): void {
    this.lastAt = now;
    add(this.#at(now).spent, spent, 1n);
    add(this.#drawn, worst, -1n);
  }

  isWorthReserve(now: number): boolean {
    return this.#at(now).requests + this.#before.requests >= this.requestsMin;
  }

  /** The most that one request draws. */
  worst(now: number): Amounts {
    this.#at(now);
    return this.#greater(({ worst }) => worst);
  }

  /** Two seconds of what was spent, and room for the requests that run at one time. */
  target(now: number): Amounts {
    const worst = this.worst(now);
    const missed = BigInt(Math.max(this.#current.missed, this.#before.missed));
    const target = this.#greater(({ peak }) => peak);
    add(target, this.#greater(({ spent }) => spent), 2n);
    add(target, worst, SPARE_REQUESTS + missed);
    return target;
  }

  #greater(pick: (window: Window) => Amounts): Amounts {
    const amounts = { ...pick(this.#before) };
    raise(amounts, pick(this.#current));
    return amounts;
  }

  #at(now: number): Window {
    if (now >= this.#endsAt) {
      this.#before = now >= this.#endsAt + WINDOW_MS ? newWindow() : this.#current;
      this.#current = newWindow();
      raise(this.#current.peak, this.#drawn);
      this.#endsAt = now + WINDOW_MS;
    }
    return this.#current;
  }
}

function newWindow(): Window {
  const none = () => ({ money: 0n, units: 0n });
  return { requests: 0, missed: 0, spent: none(), worst: none(), peak: none() };
}

function raise(amounts: Amounts, to: Amounts): void {
  if (to.money > amounts.money) amounts.money = to.money;
  if (to.units > amounts.units) amounts.units = to.units;
}

function add(amounts: Amounts, more: Amounts, times: bigint): void {
  amounts.money += more.money * times;
  amounts.units += more.units * times;
}

/** What is missing in `left`, if anything. */
export function lessOf(target: Amounts, left: Amounts): Amounts {
  const positive = (amount: bigint) => amount > 0n ? amount : 0n;
  return {
    money: positive(target.money - left.money),
    units: positive(target.units - left.units),
  };
}

export function isNone({ money, units }: Amounts): boolean {
  return money === 0n && units === 0n;
}

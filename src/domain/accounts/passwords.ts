import { ApiError } from "../../lib/api_error.ts";
import { FairQueue, type PasswordCaller } from "./fair_queue.ts";

/** What a hash costs argon2id: KiB of memory, and passes over it. */
export interface PasswordCost {
  memoryKib: number;
  passes: number;
}
export type PasswordTask =
  | { task: "hash"; password: string; cost: PasswordCost }
  /** Without a hash it is compared with one that matches nothing. */
  | { task: "verify"; password: string; hash: string | PasswordCost };
export type PasswordAnswer = { result: string | boolean } | { error: string };

/** OWASP's first choice for argon2id. */
export const PASSWORD_COST: PasswordCost = { memoryKib: 19_456, passes: 2 };
/** Characters of a password. */
export const PASSWORD_LENGTH = { min: 10, max: 256 } as const;
/** More waiting entries are an attack or an outage: further ones fail at once. */
const WAITING = { perClient: 63, total: 512 };
/** Requests of the operator's API: few, and authenticated. */
const OPERATOR: PasswordCaller = { client: "", isKnown: true };

interface Waiting {
  readonly task: PasswordTask;
  resolve(value: string | boolean): void;
  reject(error: Error): void;
}

/**
 * argon2id in a thread of its own: a hash takes tens of milliseconds on purpose, and requests shall not
 * wait for it. One at a time, because each takes 19 MB; clients are served round robin.
 */
export class Passwords implements Disposable {
  #worker: Worker | undefined;
  #current: Waiting | null = null;
  readonly #queue = new FairQueue<Waiting>(WAITING, ({ reject }) => reject(tooMany()));
  readonly #cost: PasswordCost;

  constructor(cost = PASSWORD_COST) {
    this.#cost = cost;
  }

  async hash(password: string, asker = OPERATOR): Promise<string> {
    const task = { task: "hash", password: password.normalize("NFC"), cost: this.#cost } as const;
    return await this.#ask(task, asker) as string;
  }

  /** Whether a password matches. Without a hash it takes as long and is false. */
  async verify(password: string, hash: string | null, asker = OPERATOR): Promise<boolean> {
    // Matches no hash, and argon2 does not accept it.
    if (password === "") return false;
    const task: PasswordTask = {
      task: "verify",
      // Two keyboards may write the same letter differently.
      password: password.slice(0, PASSWORD_LENGTH.max).normalize("NFC"),
      hash: hash ?? this.#cost,
    };
    return await this.#ask(task, asker) as boolean;
  }

  #ask(task: PasswordTask, asker: PasswordCaller): Promise<string | boolean> {
    return new Promise((resolve, reject) => {
      if (!this.#queue.push(asker, { task, resolve, reject })) return reject(tooMany());
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== null) return;
    this.#current = this.#queue.shift() ?? null;
    if (this.#current === null) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage(this.#current.task);
  }

  #start(): Worker {
    const worker = new Worker(new URL("./password_worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: answer }: MessageEvent<PasswordAnswer>) => {
      const waiting = this.#current;
      this.#current = null;
      if ("error" in answer) waiting?.reject(new Error(answer.error));
      else waiting?.resolve(answer.result);
      this.#next();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#end(new Error(`the password worker failed: ${event.message}`));
    };
    return worker;
  }

  #end(reason: Error): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#current?.reject(reason);
    this.#current = null;
    for (const { reject } of this.#queue.clear()) reject(reason);
  }

  [Symbol.dispose](): void {
    this.#end(new Error("closed"));
  }
}

function tooMany(): ApiError {
  return new ApiError("rate_limit_exceeded", "Too many people sign in just now: try again.", {
    retryAfterSeconds: 5,
  });
}

/** What is wrong with a new password; null when nothing is. Length is what counts, says NIST 800-63B. */
export function passwordFault(password: string, email: string): string | null {
  if (password.length < PASSWORD_LENGTH.min) {
    return `Use at least ${PASSWORD_LENGTH.min} characters.`;
  }
  if (password.length > PASSWORD_LENGTH.max) {
    return `Use at most ${PASSWORD_LENGTH.max} characters.`;
  }
  const plain = password.toLowerCase();
  if (
    plain === email || new Set(plain).size < 5 || /^(password|1234567890|qwertyuiop)/.test(plain)
  ) {
    return "This password is too easy to guess. Choose another one.";
  }
  return null;
}

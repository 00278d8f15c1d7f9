import { Refusal } from "../base/refusal.ts";

export type PasswordTask =
  | { id: number; task: "hash"; password: string }
  | { id: number; task: "verify"; password: string; hash: string | null };
export type PasswordAnswer = { id: number; result: string | boolean } | {
  id: number;
  error: string;
};

const LENGTH_MIN = 10;
const LENGTH_MAX = 256;
/** More waiting than this is an attack or an outage: both are better told at once. */
const WAITING_MAX = 64;

/**
 * argon2id in a thread of its own: a hash takes tens of milliseconds on purpose, and requests shall not
 * wait for it. One at a time, since each takes 19 MB.
 */
export class Passwords implements Disposable {
  #worker: Worker | undefined;
  #waiting = new Map<
    number,
    { resolve(value: string | boolean): void; reject(error: Error): void }
  >();
  #number = 0;

  async hash(password: string): Promise<string> {
    return await this.#ask({ task: "hash", password: password.normalize("NFC") }) as string;
  }

  /** Whether a password fits. Without a hash to compare with, it takes as long, and does not. */
  async fits(password: string, hash: string | null): Promise<boolean> {
    // Fits no hash, and argon2 does not take it.
    if (password === "") return false;
    return await this.#ask({
      task: "verify",
      // Two keyboards may write the same letter differently.
      password: password.slice(0, LENGTH_MAX).normalize("NFC"),
      hash,
    }) as boolean;
  }

  #ask(
    task: Omit<PasswordTask, "id"> & { hash?: string | null },
  ): Promise<string | boolean> {
    if (this.#waiting.size >= WAITING_MAX) {
      throw new Refusal("rate_limit_exceeded", "Too many people sign in just now: try again.", {
        retryAfterSeconds: 5,
      });
    }
    this.#worker ??= this.#start();
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker!.postMessage({ ...task, id });
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./password_worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: answer }: MessageEvent<PasswordAnswer>) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ("error" in answer) waiting?.reject(new Error(answer.error));
      else waiting?.resolve(answer.result);
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
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }

  [Symbol.dispose](): void {
    this.#end(new Error("closed"));
  }
}

/** What is wrong with a new password; null when nothing is. Length is what counts, says NIST 800-63B. */
export function passwordFault(password: string, email: string): string | null {
  if (password.length < LENGTH_MIN) return `Use ${LENGTH_MIN} characters or more.`;
  if (password.length > LENGTH_MAX) return `Use at most ${LENGTH_MAX} characters.`;
  const plain = password.toLowerCase();
  if (
    plain === email || new Set(plain).size < 5 || /^(password|1234567890|qwertyuiop)/.test(plain)
  ) {
    return "This password is among the first that would be guessed: choose another.";
  }
  return null;
}

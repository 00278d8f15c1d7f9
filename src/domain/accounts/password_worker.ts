/// <reference lib="deno.worker" />
import { argon2id, argon2Verify } from "hash-wasm";
import type { PasswordAnswer, PasswordTask } from "./passwords.ts";

/** OWASP's first choice for argon2id: 19 MiB, two passes, parallelism 1. */
const COST = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 };

/** A hash that matches no password and costs as much to compare with as a real one. */
const UNMATCHED_HASH =
  `$argon2id$v=19$m=${COST.memorySize},t=${COST.iterations},p=${COST.parallelism}$${
    randomText(16)
  }$${randomText(COST.hashLength)}`;

self.onmessage = async ({ data }: MessageEvent<PasswordTask>) => {
  let answer: PasswordAnswer;
  try {
    const result = data.task === "hash"
      ? await argon2id({
        ...COST,
        password: data.password,
        salt: crypto.getRandomValues(new Uint8Array(16)),
        outputType: "encoded",
      })
      : await argon2Verify({ password: data.password, hash: data.hash ?? UNMATCHED_HASH }) &&
        data.hash !== null;
    answer = { result };
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(answer);
};

/** Random bytes as an encoded hash has them: base64 without padding. */
function randomText(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toBase64({ omitPadding: true });
}

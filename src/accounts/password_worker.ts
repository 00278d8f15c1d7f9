/// <reference lib="deno.worker" />
import { argon2id, argon2Verify } from "hash-wasm";
import type { PasswordAnswer, PasswordTask } from "./passwords.ts";

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const COST = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 };

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
      : await argon2Verify({ password: data.password, hash: data.hash });
    answer = { id: data.id, result };
  } catch (error) {
    answer = { id: data.id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(answer);
};

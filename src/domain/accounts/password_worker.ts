/// <reference lib="deno.worker" />
import { argon2id, argon2Verify } from "hash-wasm";
import type { PasswordAnswer, PasswordCost, PasswordTask } from "./passwords.ts";

const HASH_BYTES = 32;
const PARALLELISM = 1;

/** A hash that matches no password and costs as much to compare with as a real one. */
const unmatchedHash = ({ memoryKib, passes }: PasswordCost) =>
  `$argon2id$v=19$m=${memoryKib},t=${passes},p=${PARALLELISM}$${randomText(16)}$${
    randomText(HASH_BYTES)
  }`;

self.onmessage = async ({ data }: MessageEvent<PasswordTask>) => {
  let answer: PasswordAnswer;
  try {
    answer = { result: await (data.task === "hash" ? hash(data) : verify(data)) };
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(answer);
};

function hash({ password, cost }: PasswordTask & { task: "hash" }): Promise<string> {
  return argon2id({
    memorySize: cost.memoryKib,
    iterations: cost.passes,
    parallelism: PARALLELISM,
    hashLength: HASH_BYTES,
    password,
    salt: crypto.getRandomValues(new Uint8Array(16)),
    outputType: "encoded",
  });
}

async function verify({ password, hash }: PasswordTask & { task: "verify" }): Promise<boolean> {
  if (typeof hash === "string") return await argon2Verify({ password, hash });
  await argon2Verify({ password, hash: unmatchedHash(hash) });
  return false;
}

/** Random bytes as an encoded hash has them: base64 without padding. */
function randomText(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toBase64({ omitPadding: true });
}

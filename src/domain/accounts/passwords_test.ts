import assert from "node:assert/strict";
import { Passwords } from "./passwords.ts";
import { sleep } from "../../lib/timers.ts";

Deno.test("a password matches its own hash, and never the one of an unknown person", async () => {
  using passwords = new Passwords();
  const hash = await passwords.hash("correct horse battery staple");
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(await passwords.verify("correct horse battery staple", hash), true);
  assert.equal(await passwords.verify("another sentence", hash), false);
  assert.equal(await passwords.verify("", hash), false);
  assert.equal(await passwords.verify("correct horse battery staple", null), false);
});

// For known and unknown persons alike: overload must not reveal which addresses exist, nor end the process.
Deno.test("a full queue rejects a sign-in and leaves no unhandled rejection", async () => {
  let rush: Promise<PromiseSettledResult<string>[]>;
  {
    using passwords = new Passwords();
    rush = Promise.allSettled(
      Array.from({ length: 64 }, (_, i) => passwords.hash(`password number ${i}`)),
    );
    for (const hash of ["$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAA", null]) {
      await assert.rejects(passwords.verify("guess", hash), /Too many people/);
      await sleep(0);
    }
  }
  await rush;
});

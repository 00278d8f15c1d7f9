import assert from "node:assert/strict";
import { PASSWORD_COST } from "../../src/domain/accounts/passwords.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { PASSWORD, Visitor } from "../helpers/visitor.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const ANN = "ann@example.com";
const behindProxy = () => configWithSite("trusted_proxies: 1");
const from = (address: string) => ({ "x-forwarded-for": address });

async function timed(asked: () => Promise<Response>): Promise<{ status: number; ms: number }> {
  const started = performance.now();
  const { status } = await asked();
  return { status, ms: performance.now() - started };
}

test("wrong passwords from 200 addresses do not keep the owner out, known device or new", async () => {
  await using gateway = await openGateway({ config: await behindProxy() });
  const known = new Visitor(gateway.address);
  const signIn = (visitor: Visitor, password: string, address: string) =>
    visitor.post("/sign-in", { email: ANN, password }, from(address));
  const registered = await known.post(
    "/register",
    { email: ANN, password: PASSWORD },
    from("198.51.100.7"),
  );
  assert.equal(registered.status, 303);
  await known.post("/sign-out", {});

  const statuses: number[] = [];
  for (let batch = 0; batch < 10; batch++) {
    const tries = Array.from(
      { length: 20 },
      (_, n) => signIn(new Visitor(gateway.address), `guess ${batch}`, `203.0.${batch}.${n + 1}`),
    );
    statuses.push(...(await Promise.all(tries)).map(({ status }) => status));
  }
  assert.deepEqual(new Set(statuses), new Set([401]));

  const before = await timed(() => signIn(known, PASSWORD, "198.51.100.7"));
  assert.equal(before.status, 303, "from a browser that has signed in before");
  const fresh = new Visitor(gateway.address);
  const elsewhere = await timed(() => signIn(fresh, PASSWORD, "192.0.2.1"));
  assert.equal(elsewhere.status, 303, "from a new one");
  assert.ok(before.ms < elsewhere.ms, "only the new one waits");

  // Guessing goes on at two tries from a place, then six an hour.
  const guesses: number[] = [];
  for (let n = 0; n < 3; n++) {
    guesses.push((await signIn(new Visitor(gateway.address), `more ${n}`, "192.0.2.99")).status);
  }
  assert.deepEqual(guesses, [401, 401, 429]);
  // Nor is a known device a way to guess: its own wrong passwords count.
  await known.post("/sign-out", {});
  const own: number[] = [];
  for (let n = 0; n < 9; n++) {
    own.push((await signIn(known, `typo ${n}`, "198.51.100.7")).status);
  }
  assert.deepEqual(own, [...Array(8).fill(401), 429]);
});

test("a device that is known as one person is a stranger to others, and to the same after a reset", async () => {
  await using gateway = await openGateway({ config: await behindProxy() });
  const { sql } = gateway.gateway.database;
  const [ann, bob] = [new Visitor(gateway.address), new Visitor(gateway.address)];
  await ann.register(ANN);
  await bob.register("bob@example.com");
  const devices = async () => (await sql`select from throttle`).length;
  const tried = async (visitor: Visitor) => {
    await sql`delete from throttle`;
    await visitor.post("/sign-out", {});
    await visitor.post("/sign-in", { email: ANN, password: "wrong" }, from("192.0.2.1"));
    // One count for a known device; three for a stranger: here, from this address, at this person.
    return await devices();
  };
  assert.equal(await tried(ann), 1);
  assert.equal(await tried(bob), 3);
  const forged = new Visitor(gateway.address);
  const mark = ann.cookies.get("tollgate_device")!;
  forged.cookies.set("tollgate_device", mark.replace(/^./, (letter) => letter === "a" ? "b" : "a"));
  assert.equal(await tried(forged), 3);
  await (await gateway.admin("POST", `/people/${ANN}/password`)).body?.cancel();
  assert.equal(await tried(ann), 3);
});

test("a flood of sign-ins from one address does not hold up another", async () => {
  // As expensive as in service: the flood must still be waiting when another comes.
  const timing = { passwords: PASSWORD_COST };
  await using gateway = await openGateway({ config: await behindProxy(), timing });
  await new Visitor(gateway.address).register(ANN);
  let done = 0;
  const flood = Array.from({ length: 50 }, (_, n) =>
    new Visitor(gateway.address).post(
      "/sign-in",
      { email: `user${n}@example.com`, password: "guess" },
      from("203.0.113.1"),
    ).then(({ status }) => {
      done++;
      return status;
    }));
  while (done === 0) await new Promise((resume) => setTimeout(resume, 5));
  const ann = await new Visitor(gateway.address).post(
    "/sign-in",
    { email: ANN, password: PASSWORD },
    from("192.0.2.1"),
  );
  assert.equal(ann.status, 303);
  assert.ok(done < 25, `${done} of the flood were served first`);
  assert.deepEqual(new Set(await Promise.all(flood)), new Set([401]));
});

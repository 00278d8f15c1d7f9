import { sleep } from "../lib/timers.ts";
import type { PasswordCaller } from "../domain/accounts/fair_queue.ts";
import { knownDevice } from "../domain/accounts/known_devices.ts";
import { readCookie } from "./cookies.ts";
import type { SiteContext, SiteDeps } from "./context.ts";
import { clientAddress } from "./form.ts";

/** Attempts at one account from one client address, and at all accounts from it. */
const ATTEMPTS_PER_ACCOUNT = { burst: 8, everySeconds: 60 };
const ATTEMPTS_PER_CLIENT = { burst: 60, everySeconds: 10 };
/** Per account and client address while the account is attacked from many addresses. */
const ATTEMPTS_UNDER_ATTACK = { burst: 2, everySeconds: 600 };
/** Attempts at one account from anywhere: counts up to 180, and one less every 20 seconds. */
const PRESSURE = { burst: 180, everySeconds: 20 };
/** From this pressure on each attempt is delayed, a step longer each time. */
const DELAY_FROM = 10;
const DELAY_STEP_MS = 100;
const DELAY_MAX_MS = 2_000;
/** From this pressure on an account counts as attacked. */
const ATTACK_FROM = 20;

/** A sign-in attempt that may go on. */
export interface SignInAttempt {
  /** The client in the queue of password checks. */
  readonly caller: PasswordCaller;
  /** Resets the count after the right password. */
  succeeded(): Promise<void>;
}

/**
 * Counts a sign-in attempt, or throws when there were too many. Wrong passwords of others never lock the owner
 * out: a browser that has signed in before has its own count, any other is only delayed. `person` is null
 * where no account has the email.
 */
export async function countSignInAttempt(
  c: SiteContext,
  { throttle, database }: SiteDeps,
  email: string,
  person: string | null,
): Promise<SignInAttempt> {
  const mark = readCookie(c, "device");
  const device = mark === undefined || person === null
    ? null
    : await knownDevice(database.sql, person, mark, Date.now());
  if (device !== null) {
    const tried = `sign-in-device:${device}`;
    await throttle.take([[tried, ATTEMPTS_PER_ACCOUNT]]);
    return { caller: { client: device, isKnown: true }, succeeded: () => throttle.reset(tried) };
  }
  const [address, target] = [clientAddress(c), `sign-in:${email}`];
  const tried = `${target}:${address}`;
  const pressure = await throttle.pressure(target, PRESSURE);
  await throttle.take([
    [tried, pressure < ATTACK_FROM ? ATTEMPTS_PER_ACCOUNT : ATTEMPTS_UNDER_ATTACK],
    [`sign-in-from:${address}`, ATTEMPTS_PER_CLIENT],
  ]);
  await throttle.press(target, PRESSURE);
  const waitMs = Math.min(DELAY_MAX_MS, (pressure - DELAY_FROM) * DELAY_STEP_MS);
  if (waitMs > 0) await sleep(waitMs);
  return { caller: { client: address }, succeeded: () => throttle.reset(tried) };
}

import { sleep } from "../lib/timers.ts";
import type { PasswordCaller } from "../domain/accounts/fair_queue.ts";
import { knownDevice } from "../domain/accounts/known_devices.ts";
import { readCookie } from "./cookies.ts";
import type { SiteContext, SiteDeps } from "./context.ts";
import { clientAddress } from "./form.ts";

/** One person's password from one place, and many people's from one place. */
const TRIES_HERE = { burst: 8, everySeconds: 60 };
const TRIES_FROM = { burst: 60, everySeconds: 10 };
/** The same from one place while the person is being guessed at from many: 2 at once, 6 an hour. */
const TRIES_UNDER_ATTACK = { burst: 2, everySeconds: 600 };
/** Tries at one person from anywhere: one is forgotten every so often, and the last 180 count. */
const PRESSURE = { burst: 180, everySeconds: 20 };
/** From this many on a try waits a little longer than the one before … */
const SLOW_FROM = 10;
const SLOW_STEP_MS = 100;
const SLOW_MAX_MS = 2_000;
/** … and from this many on a place has fewer of them. */
const ATTACK_FROM = 20;

/** A try that may go on. */
export interface Try {
  /** Who it is counted as. */
  readonly asker: PasswordCaller;
  /** It was right: whoever has signed in may err again as often as at first. */
  succeeded(): Promise<void>;
}

/**
 * Counts one try at a person's password, through whichever form. Others' wrong passwords never refuse the
 * owner: for a browser that has signed in before they do not count at all, elsewhere they cost a short wait.
 * `person` is null when nobody has the address.
 */
export async function countTry(
  c: SiteContext,
  { throttle, database }: SiteDeps,
  email: string,
  person: string | null,
): Promise<Try> {
  const mark = readCookie(c, "device");
  const device = mark === undefined || person === null
    ? null
    : await knownDevice(database.sql, person, mark, Date.now());
  if (device !== null) {
    const tried = `sign-in-device:${device}`;
    await throttle.take([[tried, TRIES_HERE]]);
    return { asker: { client: device, isKnown: true }, succeeded: () => throttle.forget(tried) };
  }
  const [address, target] = [clientAddress(c), `sign-in:${email}`];
  const tried = `${target}:${address}`;
  const pressure = await throttle.pressure(target, PRESSURE);
  await throttle.take([
    [tried, pressure < ATTACK_FROM ? TRIES_HERE : TRIES_UNDER_ATTACK],
    [`sign-in-from:${address}`, TRIES_FROM],
  ]);
  await throttle.press(target, PRESSURE);
  const waitMs = Math.min(SLOW_MAX_MS, (pressure - SLOW_FROM) * SLOW_STEP_MS);
  if (waitMs > 0) await sleep(waitMs);
  return { asker: { client: address }, succeeded: () => throttle.forget(tried) };
}

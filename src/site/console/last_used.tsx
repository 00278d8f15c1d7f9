import type { TimeValue } from "../format.ts";
import { Time } from "../time.tsx";

/** When a key or token was last used. */
export function LastUsed({ at }: { at: TimeValue | null }) {
  return at === null ? <span class="faint">Never</span> : <Time at={at} as="relative" />;
}

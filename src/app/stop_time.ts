/**
 * A process that was told to stop exits after this time at the latest: longer than the drain of requests takes, shorter
 * than supervisors usually wait before they kill.
 */
export const STOP_MS = 25_000;

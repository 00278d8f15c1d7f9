/** How results are downloaded. Tests run with shorter times than the usual ones. */
export interface DownloadLimits {
  /** Tasks whose results this process downloads at once. */
  readonly slots: number;
  /** After so long without a byte a download has failed. */
  readonly silenceMs: number;
  /** Failed tries after which the results that are missing are given up. */
  readonly tries: number;
  /** Before the second try; four times as long before each further one. */
  readonly retryMs: number;
  /** A step waits this long for a slot, then its task is polled again later. */
  readonly waitMs: number;
}

export const DOWNLOAD_LIMITS: DownloadLimits = {
  slots: 64,
  silenceMs: 30_000,
  tries: 4,
  retryMs: 500,
  waitMs: 5_000,
};

import type { Connection } from "./connection.ts";

interface ListenOptions {
  open(onChange: () => void, onNotify: (payload: string) => void): Promise<Connection>;
  channel: string;
  onNotify: (payload: string) => void;
  /** Called when listening begins, and again after each reconnect: notifications in between were missed. */
  onListen?: (() => void) | undefined;
}

const RETRY_MS = 500;

/** Listens on its own connection until stopped. Rejects only if the first attempt fails. */
export async function listen(options: ListenOptions): Promise<() => Promise<void>> {
  const quoted = `"${options.channel.replaceAll('"', '""')}"`;
  let connection: Connection | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt: Promise<void> = Promise.resolve();
  let stopped = false;

  async function start(): Promise<void> {
    const opened = await options.open(onChange, options.onNotify);
    try {
      await opened.execute(`listen ${quoted}`);
    } catch (error) {
      opened.destroy();
      throw error;
    }
    if (stopped) return await opened.end();
    connection = opened;
    options.onListen?.();
    onChange(); // it may have died before the handlers were set
  }
  function onChange(): void {
    if (stopped || connection === null || !connection.isDead) return;
    connection = null;
    retry();
  }
  function retry(): void {
    timer = setTimeout(() => {
      // Any failure to connect is retried: the first attempt has shown that listening works.
      attempt = start().catch(() => stopped ? undefined : retry());
    }, RETRY_MS);
  }

  await start();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await attempt;
    await connection?.end();
  };
}

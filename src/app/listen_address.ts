/** The loopback address for a host that means every address of this machine. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The URL of the listener, as seen from this machine. */
export function listenAddress({ hostname, port }: Deno.NetAddr): string {
  const host = LOOPBACK[hostname] ?? hostname;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether other machines may reach the listener, by names that it does not know. */
export function listensEverywhere({ hostname }: Deno.NetAddr): boolean {
  return hostname in LOOPBACK;
}

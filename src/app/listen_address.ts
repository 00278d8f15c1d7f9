/** What to call for a host that means every address of this machine. */
const HERE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The address at which a listener can be opened, from this machine at least. */
export function listenAddress({ hostname, port }: Deno.NetAddr): string {
  const host = HERE[hostname] ?? hostname;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether others than this machine may call, by addresses that the listener does not know. */
export function listensEverywhere({ hostname }: Deno.NetAddr): boolean {
  return hostname in HERE;
}

import { lookup } from "node:dns/promises";

/** Every address of a host name. Rejects when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** As the system does it, so that what works for an operator's `curl` works here. */
export const resolveHost: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

import { BlockList, isIP } from "node:net";

/** A list of networks, such as `10.0.0.0/8`, `2001:db8::/32` or a single address. */
export interface AddressList {
  has(address: string): boolean;
}

/** Reads a list of networks; returns the first entry that is none, as text. */
export function readAddressList(networks: readonly string[]): AddressList | string {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix, ...more] = network.split("/");
    const family = isIP(address);
    const bits = family === 4 ? 32 : 128;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
    if (family === 0 || !isPrefix || more.length > 0) return network;
    list.addSubnet(
      address,
      prefix === undefined ? bits : Number(prefix),
      family === 4 ? "ipv4" : "ipv6",
    );
  }
  return {
    has(address) {
      const family = isIP(address);
      // An IPv4 address that a socket for both families shows as ::ffff:… is in the IPv4 networks too.
      return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
    },
  };
}

import { BlockList, isIPv4, isIPv6 } from "node:net";

/** What is not a stranger's machine on the internet, from IANA's registries of special-purpose addresses. */
const SPECIAL_V4 = listOf("ipv4", [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carriers' own; one cloud keeps its metadata here
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // a cloud's machine agent, at what looks like a public address
  "169.254.0.0/16", // link-local; most clouds keep their metadata here
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // relays of 6to4, withdrawn
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
]);

/**
 * Only this part of IPv6 is handed out. Everything else stays outside by itself: loopback, mapped and
 * compatible IPv4 (::/8), NAT64 (64:ff9b::/16), unique local (fc00::/7), link- and site-local (fe80::/9),
 * multicast (ff00::/8).
 */
const GLOBAL_V6 = listOf("ipv6", ["2000::/3"]);

const SPECIAL_V6 = listOf("ipv6", [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: wraps any IPv4 address
  "3fff::/20", // documentation
]);

/** Whether an IP address is reachable from the whole internet, and so does not lead into our network. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !SPECIAL_V4.check(address, "ipv4");
  // A zone (`%eth0`) only makes sense on a link.
  if (!isIPv6(address) || address.includes("%")) return false;
  return GLOBAL_V6.check(address, "ipv6") && !SPECIAL_V6.check(address, "ipv6");
}

function listOf(family: "ipv4" | "ipv6", ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, prefix] = range.split("/");
    list.addSubnet(network!, Number(prefix), family);
  }
  return list;
}

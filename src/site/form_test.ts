import assert from "node:assert/strict";
import type { SiteContext } from "./context.ts";
import { clientAddress } from "./form.ts";
import { readReturnTo } from "./visitor.ts";

function context(peer: string, forwarded: string | undefined, trustedProxies: number): SiteContext {
  return {
    env: { info: { remoteAddr: { hostname: peer } }, config: { site: { trustedProxies } } },
    req: {
      raw: {
        headers: new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
      },
    },
  } as unknown as SiteContext;
}

Deno.test("the client address is the peer's, or the one that trusted proxies report", () => {
  for (
    const [peer, forwarded, trusted, address] of [
      ["192.0.2.1", undefined, 0, "192.0.2.1"],
      // Any client can send the header: without a trusted proxy it is ignored.
      ["192.0.2.1", "198.51.100.7", 0, "192.0.2.1"],
      ["10.0.0.1", "198.51.100.7", 1, "198.51.100.7"],
      ["10.0.0.1", "made up, 198.51.100.7", 1, "198.51.100.7"],
      ["10.0.0.1", "made up, 198.51.100.7, 10.0.0.2", 2, "198.51.100.7"],
      ["10.0.0.1", undefined, 1, "10.0.0.1"],
      ["10.0.0.1", "198.51.100.7:4711", 1, "198.51.100.7"],
      ["10.0.0.1", "[2001:db8:1:2::9]:4711", 1, "2001:db8:1:2::/64"],
      ["::ffff:192.0.2.1", undefined, 0, "192.0.2.1"],
      ["2001:db8:1:2:3:4:5:6", undefined, 0, "2001:db8:1:2::/64"],
      ["2001:db8:1:2::9", undefined, 0, "2001:db8:1:2::/64"],
      ["2001:db8::9", undefined, 0, "2001:db8:0:0::/64"],
      ["::1", undefined, 0, "0:0:0:0::/64"],
    ] as const
  ) assert.equal(clientAddress(context(peer, forwarded, trusted)), address, `${peer} ${forwarded}`);
});

Deno.test("return_to is a path of this site, or is ignored", () => {
  for (
    const path of [
      "/",
      "/console/keys?a=b",
      "/connect/browser-auth?state=a%20b",
      "/a?b\\c",
      "/a??b?",
    ]
  ) {
    assert.equal(readReturnTo(path), path);
  }
  for (
    const evil of [
      "",
      "console",
      "//evil",
      "/\\evil",
      "https://evil",
      "/a\\b",
      "/a b",
      "/\n/evil",
      "/ü",
      `/${"a".repeat(20_000)}`,
    ]
  ) assert.equal(readReturnTo(evil), "/console", evil.slice(0, 40));
});

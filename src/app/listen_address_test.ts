import assert from "node:assert/strict";
import { listenAddress, listensEverywhere } from "./listen_address.ts";

Deno.test("who listens everywhere is given an address that can be opened", () => {
  const at = (hostname: string): Deno.NetAddr => ({ transport: "tcp", hostname, port: 8787 });
  assert.equal(listenAddress(at("0.0.0.0")), "http://127.0.0.1:8787");
  assert.equal(listenAddress(at("::")), "http://[::1]:8787");
  assert.equal(listenAddress(at("10.0.0.7")), "http://10.0.0.7:8787");
  assert.equal(listenAddress(at("fd00::7")), "http://[fd00::7]:8787");
  assert.deepEqual(["0.0.0.0", "::", "127.0.0.1"].map((host) => listensEverywhere(at(host))), [
    ...[true, true, false],
  ]);
});

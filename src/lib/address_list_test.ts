import assert from "node:assert/strict";
import { readAddressList } from "./address_list.ts";

Deno.test("a list has the addresses of its networks, of both families, and no others", () => {
  const list = readAddressList(["10.1.0.0/16", "192.0.2.7", "2001:db8::/32", "::1"]);
  assert.ok(typeof list !== "string");
  const inside = ["10.1.255.255", "192.0.2.7", "2001:db8:ffff::1", "::1", "::ffff:10.1.2.3"];
  for (const address of inside) assert.ok(list.has(address), address);
  const outside = ["10.2.0.0", "192.0.2.8", "2001:db9::", "::2", "::ffff:10.2.0.0", "local", ""];
  for (const address of outside) assert.ok(!list.has(address), address);
});

Deno.test("what is no network is named", () => {
  const wrong = [
    "10.0.0.0/33",
    "10.0.0",
    "example.com",
    "2001:db8::/129",
    "10.0.0.0/8/8",
    "1.2.3.4/x",
    "/8",
    "",
  ];
  for (const network of wrong) assert.equal(readAddressList(["10.0.0.0/8", network]), network);
});

Deno.test("a network of all addresses has all of its family", () => {
  const list = readAddressList(["0.0.0.0/0"]);
  assert.ok(typeof list !== "string");
  assert.deepEqual([list.has("203.0.113.9"), list.has("2001:db8::1")], [true, false]);
});

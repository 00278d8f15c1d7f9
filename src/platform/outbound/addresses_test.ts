import assert from "node:assert/strict";
import { isPublicAddress } from "./addresses.ts";

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "168.63.129.15",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2001:200::1",
  "2001:4860:4860::8888",
  "2606:4700:4700::1111",
  "2a00:1450:4001:81b::200e",
  "3ffe::1",
];

const SPECIAL = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.100.100.200",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.255",
  "168.63.129.16",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::7f00:1", // IPv4-compatible loopback
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:8.8.8.8",
  "::ffff:7f00:1",
  "::ffff:0:127.0.0.1", // IPv4-translated
  "64:ff9b::7f00:1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::1",
  "100::1", // discard
  "2001::1", // Teredo
  "2001:2::1", // benchmarks
  "2001:10::1", // ORCHID
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::", // 6to4 of loopback
  "2002:808:808::",
  "3fff::1",
  "3fff:fff::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "2606:4700:4700::1111%eth0",
  "fec0::1",
  "ff02::1",
];

const NOT_ADDRESSES = [
  "",
  "example.com",
  "1.2.3",
  "01.02.03.04",
  "0x7f.1",
  "2130706433",
  "1.2.3.4 ",
  "[2606:4700:4700::1111]",
  "1.2.3.4:80",
];

Deno.test("an address is public when it is a stranger's machine on the internet", () => {
  for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address);
});

Deno.test("addresses of this machine, this network, and wrappers of them are not public", () => {
  for (const address of SPECIAL) assert.equal(isPublicAddress(address), false, address);
});

Deno.test("what is not an address as systems write them is not public", () => {
  for (const text of NOT_ADDRESSES) assert.equal(isPublicAddress(text), false, text);
});

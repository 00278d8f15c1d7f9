import assert from "node:assert/strict";
import { ApiError } from "../../lib/api_error.ts";
import { checkUrl, checkUrlResolves } from "./check_url.ts";

const STRICT = { allowPrivate: false };
const LENIENT = { allowPrivate: true };

const FINE = [
  "https://example.com",
  "https://example.com/hook?a=1#part",
  "https://example.com:443/x",
  "HTTPS://EXAMPLE.COM/x",
  "https://xn--bcher-kva.example/",
  "https://bücher.example/",
  "https://a.b-c.example.co.uk/%2e%2e/x",
  `https://example.com/${"x".repeat(2048 - 20)}`,
];

const REFUSED = [
  "",
  "example.com",
  "//example.com",
  "/etc/passwd",
  "https://",
  "https:example.com",
  "https:/example.com",
  "http://example.com/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "data:text/plain,hello",
  "javascript:alert(1)",
  "blob:https://example.com/1",
  "https://example.com:80/",
  "https://example.com:8443/",
  "https://example.com:0/",
  "https://user@example.com/",
  "https://user:password@example.com/",
  "https://@example.com/",
  "https://:@example.com/",
  "https://example.com\\@evil.example/",
  "https://example.com\\x",
  " https://example.com/",
  "https://exam\tple.com/",
  "https://example.com/\nx",
  "https://example.com/a b",
  "https://exa\u0000mple.com/",
  "https://127.0.0.1/",
  "https://8.8.8.8/",
  "https://127.1/",
  "https://0/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0x7f.0.0.1/",
  "https://0177.0.0.1/",
  "https://017700000001/",
  "https://127.0.0.1./",
  "https://①②⑦.0.0.1/",
  "https://127。0。0。1/",
  "https://%31%32%37.0.0.1/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[2606:4700:4700::1111]/",
  "https://localhost/",
  "https://localhost./",
  "https://LOCALHOST/",
  "https://x.localhost/",
  "https://printer.local/",
  "https://metadata.google.internal/",
  "https://router.lan/",
  "https://nas.home.arpa/",
  "https://db/",
  "https://example.com./",
  "https://exa mple.com/",
  `https://example.com/${"x".repeat(2049 - 20)}`,
];

function codeOf(text: string, policy: { allowPrivate: boolean }): string | null {
  try {
    checkUrl(text, policy, "callback_url");
    return null;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.param, "callback_url");
    assert.match(error.message, /^callback_url must .+\.$/);
    return error.code;
  }
}

Deno.test("public https addresses pass", () => {
  for (const text of FINE) assert.equal(codeOf(text, STRICT), null, text.slice(0, 60));
});

Deno.test("everything else is refused with unsafe_url and the field's name", () => {
  for (const text of REFUSED) {
    assert.equal(codeOf(text, STRICT), "unsafe_url", JSON.stringify(text.slice(0, 60)));
  }
});

Deno.test("allow_private lifts scheme, port and host, and nothing else", () => {
  for (
    const text of [
      "http://127.0.0.1:9000/x",
      "http://localhost/",
      "https://[::1]:1/",
      "http://db:80/",
    ]
  ) {
    assert.equal(codeOf(text, LENIENT), null, text);
  }
  for (
    const text of [
      "ftp://localhost/",
      "file:///etc/passwd",
      "http://user:password@localhost/",
      "http://local\nhost/",
      `http://localhost/${"x".repeat(2048)}`,
    ]
  ) assert.equal(codeOf(text, LENIENT), "unsafe_url", text.slice(0, 60));
});

Deno.test("a host with any private address is refused at once, one that does not resolve is not", async () => {
  const check = (addresses: string[] | Error) =>
    checkUrlResolves(
      "https://hooks.example.com/",
      STRICT,
      "callback_url",
      () => addresses instanceof Error ? Promise.reject(addresses) : Promise.resolve(addresses),
    );
  await check(["8.8.8.8", "2606:4700:4700::1111"]);
  await check(new Error("ENOTFOUND"));
  await assert.rejects(check(["8.8.8.8", "10.0.0.1"]), {
    code: "unsafe_url",
    param: "callback_url",
  });
  await assert.rejects(check(["::1"]), { code: "unsafe_url" });
});

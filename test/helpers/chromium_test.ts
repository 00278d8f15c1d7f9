import assert from "node:assert/strict";
import { browserTest } from "./chromium.ts";

browserTest("a page runs what it is given, apart from other pages", async ({ openPage }) => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () =>
      new Response("<script>document.title = localStorage.getItem('seen') ?? 'fresh'</script>", {
        headers: { "content-type": "text/html" },
      }),
  );
  const address = `http://127.0.0.1:${server.addr.port}/`;
  const first = await openPage();
  await first.goto(address);
  await first.evaluate("localStorage.setItem('seen', 'yes')");
  await first.reload();
  assert.equal(await first.title(), "yes");
  const second = await openPage();
  await second.goto(address);
  assert.equal(await second.title(), "fresh");
  await server.shutdown();
});

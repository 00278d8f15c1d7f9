import { openDatabase } from "./postgres.ts";
Deno.test({
  name: "leak",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    const live = new Map<unknown, string>();
    const { setTimeout: st, clearTimeout: ct } = globalThis;
    // deno-lint-ignore no-explicit-any
    (globalThis as any).setTimeout = (f: any, ms: any, ...a: any[]) => {
      const id = st(() => {
        live.delete(id);
        f(...a);
      }, ms);
      live.set(id, `${ms} ${new Error().stack}`);
      return id;
    };
    // deno-lint-ignore no-explicit-any
    (globalThis as any).clearTimeout = (id: any) => {
      live.delete(id);
      ct(id);
    };
    const proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepting = (async () => {
      for await (const c of proxy) c.close();
    })();
    await openDatabase({
      databaseUrl: `postgres://127.0.0.1:${proxy.addr.port}/x`,
      dataDir: "x",
      log() {},
      waitSeconds: 1,
    }).catch((e) => console.log(e.message));
    proxy.close();
    await accepting;
    globalThis.setTimeout = st;
    globalThis.clearTimeout = ct;
    await new Promise((r) => st(r, 50));
    console.log("ACTIVE", (globalThis as any).process?._getActiveHandles?.()?.length); console.log("LIVE", [...live.values()]);
  },
});

/** What the benchmarks compare with: Hono with one route and nothing else. */
import { Hono } from "hono";

const body = Deno.env.get("BODY")!;
const app = new Hono();
app.get(
  "/v1/models/:id",
  () => new Response(body, { headers: { "content-type": "application/json; charset=utf-8" } }),
);
const server = Deno.serve({
  hostname: "127.0.0.1",
  port: Number(Deno.env.get("PORT")),
  onListen() {},
}, app.fetch);
Deno.addSignalListener("SIGTERM", () => void server.shutdown().then(() => Deno.exit(0)));

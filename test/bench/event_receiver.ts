/** A fast receiver of events in a process of its own; prints its port. */
const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(port),
}, async (request) => {
  await request.body?.pipeTo(new WritableStream());
  return new Response(null, { status: 204 });
});
await server.finished;

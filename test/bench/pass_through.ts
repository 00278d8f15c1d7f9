/** The least a gateway can do: `Deno.serve` and `fetch`, and nothing in between. */
const upstream = Deno.env.get("UPSTREAM")!;
Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")), onListen() {} },
  async (request) => {
    if (request.method === "GET") return new Response("ok");
    const response = await fetch(`${upstream}/v1/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: request.headers.get("authorization") ?? "",
      },
      body: request.body,
    });
    return new Response(response.body, { status: response.status, headers: response.headers });
  },
);

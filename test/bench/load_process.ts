/** The load generator for machines without wrk: keeps `connections` requests under way. */
const { url, headers, body, keys, connections, seconds } = JSON.parse(Deno.args[0]!);
const end = performance.now() + seconds * 1000;
let answered = 0;
await Promise.all(Array.from({ length: connections }, async () => {
  while (performance.now() < end) {
    const key = keys === undefined
      ? {}
      : { authorization: `Bearer ${keys[answered % keys.length]}` };
    const response = await fetch(url, {
      headers: { ...headers, ...key },
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    answered++;
  }
}));
console.log(answered / seconds);

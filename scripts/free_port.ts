/** Above the ports that browsers refuse, and below those of outgoing connections, which come and go at any moment. */
const [FROM, TO] = [11_000, 32_000];

/** A port that nothing listens on, for a program that is about to start. */
export function freePort(): number {
  while (true) {
    const port = FROM + Math.floor(Math.random() * (TO - FROM));
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

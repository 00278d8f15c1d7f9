import { CERTIFICATE, KEY, say } from "./raw_server.ts";

/** An upstream that takes whole requests and then closes the connection without an answer. */
export interface ClosingUpstream extends AsyncDisposable {
  readonly port: number;
  /** Whole requests taken so far. */
  readonly received: number;
  /** So many of the next ones are answered before it closes again. */
  answers: number;
}

/** `answer` is what it says while it still answers. */
export function serveAndClose(
  { tls = false, answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" } = {},
): ClosingUpstream {
  const where = { hostname: "127.0.0.1", port: 0 };
  const listener: Deno.Listener = tls
    ? Deno.listenTls({ ...where, cert: CERTIFICATE, key: KEY }) as Deno.Listener
    : Deno.listen(where);
  const open = new Set<Deno.Conn>();
  const running = new Set<Promise<void>>();
  const upstream = { received: 0, answers: 0 };

  async function talk(connection: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    let text = "";
    try {
      while (true) {
        const read = await connection.read(buffer);
        if (read === null) return;
        text += new TextDecoder("latin1").decode(buffer.subarray(0, read));
        if (!isWhole(text)) continue;
        text = "";
        upstream.received++;
        if (upstream.answers-- <= 0) return;
        await say(connection, answer);
      }
    } catch {
      // The client left.
    } finally {
      open.delete(connection);
      close(connection);
    }
  }

  const accepting = (async () => {
    try {
      for await (const connection of listener) {
        open.add(connection);
        const talking = talk(connection);
        running.add(talking);
        talking.then(() => running.delete(talking));
      }
    } catch {
      // Closed, or a handshake failed.
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    get received() {
      return upstream.received;
    },
    get answers() {
      return upstream.answers;
    },
    set answers(count) {
      upstream.answers = count;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of open) close(connection);
      await accepting;
      await Promise.all(running);
    },
  };
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const [, length] = /\ncontent-length: *(\d+)/i.exec(text.slice(0, end + 2)) ?? [];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return !/\ntransfer-encoding:/i.test(text.slice(0, end + 2)) || text.endsWith("0\r\n\r\n");
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}

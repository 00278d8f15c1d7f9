import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { S3Store } from "./s3_store.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

const SECRET = "the-secret";
type Answer = (call: { what: string; body: Uint8Array; request: Request }) => Response;

/** Serves scripted answers and checks that each request is signed as AWS documents it (SigV4). */
async function withStore(
  answer: Answer,
  work: (store: S3Store, calls: string[]) => Promise<void>,
): Promise<void> {
  const calls: string[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const what = `${request.method} ${pathname}${search}`;
      calls.push(what);
      const body = await request.bytes();
      if (!isSigned(request)) return new Response("<Error>signature</Error>", { status: 403 });
      return answer({ what, body, request });
    },
  );
  const store = new S3Store({
    endpoint: `http://127.0.0.1:${server.addr.port}`,
    region: "eu-central-1",
    bucket: "bucket",
    pathStyle: true,
    prefix: "some/prefix/",
    accessKeyId: "the-key",
    secretAccessKey: SECRET,
  });
  await work(store, calls);
}

function isSigned(request: Request): boolean {
  const header = request.headers.get("authorization") ?? "";
  const parts = /Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    header,
  );
  if (parts === null) return false;
  const [, credential, signedHeaders, signature] = parts;
  const [key, date, region, service] = credential!.split("/");
  const url = new URL(request.url);
  const query = [...url.searchParams]
    .map((pair) => pair.map((text) => encodeURIComponent(text)).join("=")).sort().join("&");
  const headers = signedHeaders!.split(";").map((name) => `${name}:${request.headers.get(name)}\n`);
  const canonical = [
    request.method,
    url.pathname,
    query,
    headers.join(""),
    signedHeaders,
    request.headers.get("x-amz-content-sha256"),
  ].join("\n");
  const hash = createHash("sha256").update(canonical).digest("hex");
  const moment = request.headers.get("x-amz-date");
  const scope = `${date}/${region}/${service}/aws4_request`;
  const secret = [date, region, service, "aws4_request"].reduce<string | Uint8Array>(
    (secret, part) => createHmac("sha256", secret).update(part!).digest(),
    `AWS4${SECRET}`,
  );
  const expected = createHmac("sha256", secret)
    .update(`AWS4-HMAC-SHA256\n${moment}\n${scope}\n${hash}`).digest("hex");
  return key === "the-key" && region === "eu-central-1" && service === "s3" &&
    expected === signature;
}

async function* contentOf(bytes: number, fails = false): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= 1_000_000) {
    yield await Promise.resolve(new Uint8Array(Math.min(left, 1_000_000)).fill(left % 251));
  }
  if (fails) throw new Error("the sender left");
}

const BEGUN = "<Result><UploadId>u&amp;1</UploadId></Result>";
const OBJECT = "/bucket/some/prefix/file_1";

test("what fits into one part is one signed PUT", async () => {
  let stored = 0;
  await withStore(({ body }) => (stored = body.length, new Response()), async (store, calls) => {
    await store.put("file_1", contentOf(3_000_000));
    assert.deepEqual(calls, [`PUT ${OBJECT}`]);
    assert.equal(stored, 3_000_000);
  });
});

test("what does not is sent part by part, and completed with their tags in order", async () => {
  const sizes: number[] = [];
  let completed = "";
  await withStore(({ what, body }) => {
    if (what.endsWith("?uploads")) return new Response(BEGUN);
    if (what.startsWith("PUT")) {
      sizes.push(body.length);
      return new Response("", { headers: { etag: `"tag-${sizes.length}"` } });
    }
    completed = new TextDecoder().decode(body);
    return new Response("<CompleteMultipartUploadResult/>");
  }, async (store, calls) => {
    await store.put("file_1", contentOf(17_000_000));
    assert.deepEqual(calls, [
      `POST ${OBJECT}?uploads`,
      `PUT ${OBJECT}?partNumber=1&uploadId=u%261`,
      `PUT ${OBJECT}?partNumber=2&uploadId=u%261`,
      `PUT ${OBJECT}?partNumber=3&uploadId=u%261`,
      `POST ${OBJECT}?uploadId=u%261`,
    ]);
    assert.deepEqual(sizes, [8_388_608, 8_388_608, 17_000_000 - 2 * 8_388_608]);
    assert.match(completed, /<PartNumber>1<.*tag-1.*<PartNumber>2<.*tag-2.*<PartNumber>3<.*tag-3/);
  });
});

test("when the source fails, or the end fails politely, the parts are taken back", async () => {
  const answer: Answer = ({ what }) => {
    if (what.endsWith("?uploads")) return new Response(BEGUN);
    if (what.startsWith("PUT")) return new Response("", { headers: { etag: '"t"' } });
    if (what.startsWith("DELETE")) return new Response(null, { status: 204 });
    return new Response("<Error><Code>InternalError</Code></Error>");
  };
  const abort = `DELETE ${OBJECT}?uploadId=u%261`;
  await withStore(answer, async (store, calls) => {
    await assert.rejects(store.put("file_1", contentOf(17_000_000, true)), /the sender left/);
    assert.equal(calls.at(-1), abort);
  });
  await withStore(answer, async (store, calls) => {
    await assert.rejects(store.put("file_1", contentOf(17_000_000)), {
      code: "storage_unavailable",
    });
    assert.equal(calls.at(-1), abort);
  });
  // Nothing was begun: there is nothing to take back.
  await withStore(answer, async (store, calls) => {
    await assert.rejects(store.put("file_1", contentOf(1_000_000, true)), /the sender left/);
    assert.deepEqual(calls, []);
  });
});

test("a bucket that is busy is asked again; one that refuses is not, and says nothing outside", async () => {
  let busy = 2;
  await withStore(
    () => new Response("SlowDown", { status: busy-- > 0 ? 503 : 200 }),
    async (store, calls) => {
      await store.put("file_1", contentOf(10));
      assert.equal(calls.length, 3);
    },
  );
  await withStore(
    () => new Response("AccessDenied here", { status: 403 }),
    async (store, calls) => {
      await assert.rejects(store.put("file_1", contentOf(10)), (error: Error) => {
        assert.ok(!error.message.includes("Denied"));
        assert.match(String(error.cause), /403: AccessDenied here/);
        return true;
      });
      await assert.rejects(store.get("file_1"), { code: "storage_unavailable" });
      assert.equal(calls.length, 2);
    },
  );
});

test("deleting takes the object and what a dead process left of it", async () => {
  await withStore(({ what }) => {
    if (what.startsWith("GET")) {
      return new Response("<R><UploadId>a</UploadId><UploadId>b</UploadId></R>");
    }
    return new Response(null, { status: what.includes("uploadId") ? 204 : 404 });
  }, async (store, calls) => {
    await store.delete("file_1");
    assert.deepEqual(calls, [
      `DELETE ${OBJECT}`,
      "GET /bucket?uploads&prefix=some%2Fprefix%2Ffile_1",
      `DELETE ${OBJECT}?uploadId=a`,
      `DELETE ${OBJECT}?uploadId=b`,
    ]);
  });
});

test("a range is asked for as a range, and a whole object in its place is refused", async () => {
  await withStore(({ request }) => {
    const range = request.headers.get("range");
    return range === "bytes=2-3" ? new Response("cd", { status: 206 }) : new Response("abcdef");
  }, async (store) => {
    assert.equal(await new Response(await store.get("file_1")).text(), "abcdef");
    assert.equal(await new Response(await store.get("file_1", { first: 2, last: 3 })).text(), "cd");
    await assert.rejects(store.get("file_1", { first: 0, last: 1 }), {
      code: "storage_unavailable",
    });
  });
});

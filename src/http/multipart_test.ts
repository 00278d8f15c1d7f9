import assert from "node:assert/strict";
import fc from "fast-check";
import { BOUNDARY, field, filePart, form, FORM_TYPE, type Part } from "../../test/helpers/form.ts";
import { joined, text } from "../../test/helpers/media.ts";
import { readMultipartForm } from "./multipart.ts";

interface Read {
  name: string;
  filename: string | null;
  content: string;
}

/** The bytes in pieces of the given sizes, over and over. */
function inPieces(bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> {
  let at = 0;
  let turn = 0;
  // A server gives either kind.
  if (sizes[0]! % 2 === 0) {
    return ReadableStream.from((async function* () {
      while (at < bytes.length) {
        const next = at + sizes[turn++ % sizes.length]!;
        yield await Promise.resolve(bytes.slice(at, next));
        at = next;
      }
    })());
  }
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (at >= bytes.length) {
        controller.close();
        controller.byobRequest?.respond(0);
        return;
      }
      const next = at + sizes[turn++ % sizes.length]!;
      controller.enqueue(bytes.slice(at, next));
      at = next;
    },
  });
}

async function readAll(
  bytes: Uint8Array,
  sizes: readonly number[] = [1 << 16],
  type = FORM_TYPE,
): Promise<Read[]> {
  const read: Read[] = [];
  for await (const { name, filename, content } of readMultipartForm(inPieces(bytes, sizes), type)) {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece.slice());
    read.push({ name, filename, content: latin1(joined(pieces)) });
  }
  return read;
}

const latin1 = (bytes: Uint8Array | string) =>
  typeof bytes === "string" ? bytes : new TextDecoder("latin1").decode(bytes);

/** Bytes that look like the end of a part as often as not. */
const content = fc.array(
  fc.oneof(
    fc.constantFrom(
      "\r",
      "\n",
      "\r\n",
      "-",
      "--",
      `\r\n--${BOUNDARY.slice(0, -1)}`,
      "\r\r\n--",
      BOUNDARY,
    ),
    fc.uint8Array({ maxLength: 300 }),
  ),
  { maxLength: 20 },
).map((parts) => joined(parts.map((part) => typeof part === "string" ? text(part) : part)))
  // The sender of a form chooses a boundary that does not occur in its content.
  .filter((bytes) => !latin1(bytes).includes(`\r\n--${BOUNDARY}`));

const file = fc.tuple(content, fc.stringMatching(/^[a-z ]{1,20}\.png$/)).map(([bytes, name]) =>
  filePart(bytes, name)
);
const plain = fc.tuple(fc.stringMatching(/^[a-z_]{1,20}$/), fc.stringMatching(/^[ -~]{0,50}$/)).map(
  ([name, value]) => field(name, value),
);

Deno.test("a form in any pieces is read as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(file, plain), { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
      async (parts: Part[], sizes) => {
        const bytes = form(parts);
        const expected = parts.map(({ head, content }) => ({
          name: /name="([^"]*)"/.exec(head)![1],
          filename: /filename="([^"]*)"/.exec(head)?.[1] ?? null,
          content: latin1(content),
        }));
        assert.deepEqual(await readAll(bytes, sizes), expected);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("any bytes at all are read or refused, and never hang", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.constantFrom(
            `--${BOUNDARY}`,
            "\r\n",
            "--",
            `\r\n--${BOUNDARY}\r\n`,
            `\r\n--${BOUNDARY}--`,
          ),
          fc.constant('Content-Disposition: form-data; name="file"\r\n\r\n'),
          fc.uint8Array({ maxLength: 50 }),
        ),
        { maxLength: 12 },
      ),
      fc.integer({ min: 1, max: 100 }),
      async (parts, size) => {
        const bytes = joined(parts.map((part) => typeof part === "string" ? text(part) : part));
        await readAll(bytes, [size]).catch((error) => assert.equal(error.code, "invalid_value"));
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("names are read however clients write them", async () => {
  const named = async (disposition: string) => {
    const [part] = await readAll(
      form([{ head: `content-disposition: ${disposition}`, content: "x" }]),
    );
    return [part!.name, part!.filename];
  };
  assert.deepEqual(await named('form-data; name="file"; filename="a.png"'), ["file", "a.png"]);
  assert.deepEqual(await named("form-data; name=file; filename=a.png"), ["file", "a.png"]);
  assert.deepEqual(await named('Form-Data;NAME="file";FileName="a; b.png"'), ["file", "a; b.png"]);
  assert.deepEqual(await named('form-data; name="file"; filename="a\\"b\\\\c.png"'), [
    "file",
    'a"b\\c.png',
  ]);
  assert.deepEqual(await named('form-data; name="file"; filename="a%22b.png"'), [
    "file",
    'a"b.png',
  ]);
  assert.deepEqual(await named('form-data; filename="name=evil"; name="file"'), [
    "file",
    "name=evil",
  ]);
  assert.deepEqual(await named('form-data; name="file"; filename="C:\\photos\\a.png"'), [
    "file",
    "C:\\photos\\a.png",
  ]);
  assert.deepEqual(await named('form-data; name="file"; filename="C:\\photos\\"'), [
    "file",
    "C:\\photos\\",
  ]);
  assert.deepEqual(await named("form-data; x=\"; name=evil\"; name = file ; filename*=UTF-8''b"), [
    "file",
    null,
  ]);
  assert.deepEqual(await named('form-data; name="file"; filename="日本.png"'), [
    "file",
    "日本.png",
  ]);
});

Deno.test("what stands before the first and after the last boundary means nothing", async () => {
  const bytes = joined([text("This is a form.\r\n"), form([field("a", "1")]), text("the end")]);
  assert.deepEqual(await readAll(bytes, [7]), [{ name: "a", filename: null, content: "1" }]);
  const quoted = await readAll(
    form([field("a", "1")]),
    [7],
    `Multipart/Form-Data; charset=x; boundary="${BOUNDARY}"`,
  );
  assert.equal(quoted.length, 1);
});

Deno.test("a form that is not one is refused", async () => {
  const whole = form([field("a", "1")]);
  const faulty: [string, Uint8Array, string?][] = [
    ["nothing", new Uint8Array()],
    ["no boundary in it", text("hello")],
    ["cut off in the boundary", whole.subarray(0, 10)],
    ["cut off in the head", whole.subarray(0, 40)],
    ["cut off in the content", whole.subarray(0, -20)],
    ["cut off in the end", whole.subarray(0, -3)],
    ["a boundary that goes on", text(`--${BOUNDARY}x\r\n\r\n`)],
    ["a part without a head", form([{ head: "", content: "x" }])],
    ["a part without a name", form([{ head: "Content-Disposition: form-data", content: "x" }])],
    [
      "a part that is no form-data",
      form([{ head: 'Content-Disposition: attachment; name="a"', content: "x" }]),
    ],
    [
      "a quote without end",
      form([{ head: `Content-Disposition: form-data; name="${"\\".repeat(60)}`, content: "x" }]),
    ],
    ["a head without end", form([{ head: `X-Long: ${"x".repeat(10_000)}`, content: "x" }])],
    ["no boundary", whole, "multipart/form-data"],
    ["a boundary too long", whole, `multipart/form-data; boundary=${"x".repeat(71)}`],
  ];
  for (const [what, bytes, type] of faulty) {
    for (const size of [1, 1000]) {
      await assert.rejects(readAll(bytes, [size], type), { code: "invalid_value" }, what);
    }
  }
});

Deno.test("a reader that stops in the middle lets go of the body", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    type: "bytes",
    start: (controller) => controller.enqueue(form([filePart("begin")], { end: "" }).slice(0, -2)),
    pull: (controller) => controller.enqueue(new Uint8Array(1000)),
    cancel: () => void (isCancelled = true),
  });
  for await (const { content } of readMultipartForm(endless, FORM_TYPE)) {
    for await (const _ of content) break;
    break;
  }
  assert.ok(isCancelled);
});

import assert from "node:assert/strict";
import { formatTraceparent, parseTraceparent, randomHex } from "./trace_context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

Deno.test("a traceparent is read and written as W3C Trace Context says", () => {
  const header = `00-${TRACE}-${SPAN}-01`;
  const context = parseTraceparent(header, "vendor=1");
  assert.deepEqual(context, { traceId: TRACE, spanId: SPAN, isSampled: true, state: "vendor=1" });
  assert.equal(formatTraceparent(context!), header);
  assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-00`)!.isSampled, false);
  assert.equal(
    parseTraceparent(`cc-${TRACE}-${SPAN}-03-later`)!.isSampled,
    true,
    "a later version",
  );
  assert.equal(parseTraceparent(header, "x".repeat(513))!.state, "", "too long to pass on");
});

Deno.test("a header that is not valid begins a new trace", () => {
  for (
    const header of [
      null,
      "",
      TRACE,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-1`,
      `00-${TRACE}-${SPAN}-01x`,
      `00-${TRACE}-${SPAN}`,
    ]
  ) assert.equal(parseTraceparent(header), null, String(header));
});

Deno.test("random ids have their length and do not repeat", () => {
  const ids = new Set(Array.from({ length: 2000 }, () => randomHex(8)));
  assert.equal(ids.size, 2000);
  for (const id of ids) assert.match(id, /^[0-9a-f]{16}$/);
});

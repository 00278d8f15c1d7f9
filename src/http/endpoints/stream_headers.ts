/** Of a response that is a stream of events. */
export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Keeps proxies from buffering the stream.
  "x-accel-buffering": "no",
};

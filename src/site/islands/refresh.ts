/** A page about something that is about to happen looks again by itself. */
const AGAIN_MS = 900;
setTimeout(() => location.reload(), AGAIN_MS);

export {};

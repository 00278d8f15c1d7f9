/** Reloads a page whose content is about to change. */
const RELOAD_MS = 900;
setTimeout(() => location.reload(), RELOAD_MS);

export {};

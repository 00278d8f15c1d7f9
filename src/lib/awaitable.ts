/** A value that is there at once, or later. */
export type Awaitable<T> = T | Promise<T>;

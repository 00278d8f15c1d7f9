/** Somebody whom we call did not do as they should. Whatever caused it, it says nothing of our own storage. */
export abstract class RemoteError extends Error {}

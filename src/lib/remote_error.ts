/** A server that we call failed. Whatever the cause, it says nothing about our own storage. */
export abstract class RemoteError extends Error {}

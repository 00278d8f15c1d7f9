/** A time as the API has it: whole seconds since 1970. Null stays null. */
export function toUnixSeconds<T extends Date | null>(moment: T): T extends Date ? number : null;
export function toUnixSeconds(moment: Date | null): number | null {
  return moment === null ? null : Math.floor(moment.getTime() / 1000);
}

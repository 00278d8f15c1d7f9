/** Freezes a value and all that hangs on it. Maps and sets lose their means to change. */
export function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map || value instanceof Set) {
    for (const part of value.values()) freeze(part);
    for (const verb of ["set", "add", "delete", "clear"]) {
      if (verb in value) Object.defineProperty(value, verb, { value: refuse });
    }
  } else for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

function refuse(): never {
  throw new TypeError("Cannot change a compiled plan: reload the declaration instead");
}

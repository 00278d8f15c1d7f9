/** Freezes a value recursively. The methods that change maps and sets throw. */
export function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map || value instanceof Set) {
    for (const part of value.values()) freeze(part);
    for (const method of ["set", "add", "delete", "clear"]) {
      if (method in value) Object.defineProperty(value, method, { value: rejectChange });
    }
  } else for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

function rejectChange(): never {
  throw new TypeError("Cannot change a compiled configuration: edit the file and reload it");
}

export type Body = Record<string, unknown>;
export type Fields = Readonly<Record<string, string>>;

export function textField(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

/** A number; anything else stays as it is, so that the API names the field in its error. */
export function numberField(value: string | undefined): number | string | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const read = Number(value);
  return Number.isFinite(read) ? read : value;
}

/** URLs or file ids, one per line. */
export function listField(value: string | undefined): string[] | undefined {
  const lines = (value ?? "").split(/\s+/).filter((line) => line !== "");
  return lines.length === 0 ? undefined : lines;
}

import { z } from "zod";

/** Digits only: `Number` accepts "0x50", "1e3" and blanks too. */
export const wholeNumber = (least: number, most: number, example: number) => {
  const message = `must be a whole number from ${least} to ${most}, such as ${example}`;
  return z.string().regex(/^\d{1,9}$/, message).transform(Number)
    .refine((value) => value >= least && value <= most, message);
};

export const oneOf = <const T extends string>(words: readonly T[]) =>
  z.enum(words, `must be one of ${words.join(", ")}`);

/** An empty variable counts as unset: `DATABASE_URL= npm start` uses the embedded database. */
export const optional = <T extends z.ZodType>(type: T) =>
  z.preprocess((value) => value === "" ? undefined : value, type.optional());

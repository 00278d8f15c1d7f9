import type { RequestSchema } from "../model_types/definition.ts";

/** The attributes of an input that keep its value within what a request schema allows. */
interface InputAttributes {
  readonly min?: number;
  readonly max?: number;
  readonly maxlength?: number;
}

interface LimitKeywords {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** The limits of a field. The browser tells of them early; the request check decides. */
export function inputLimits(
  { properties }: Pick<RequestSchema, "properties">,
  name: string,
): InputAttributes {
  const field = properties[name] as LimitKeywords | undefined;
  if (field === undefined) throw new Error(`The request has no field ${name}`);
  const { minimum: min, maximum: max, maxLength: maxlength } = field;
  return {
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(maxlength === undefined ? {} : { maxlength }),
  };
}

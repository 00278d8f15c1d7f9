import { requestBody } from "../http/request_body.ts";
import type { RequestSchema } from "../model_types/definition.ts";

type Fields = Readonly<Record<string, string>>;

/** A form that sends a request of the API: the request's own schema checks it and limits its inputs. */
export class RequestForm<Body> {
  readonly #schema: RequestSchema;
  readonly #check: (body: unknown) => Body;

  constructor(schema: RequestSchema) {
    this.#schema = schema;
    this.#check = requestBody<Body>({ name: schema.title, schema }).check;
  }

  /**
   * The request of a form. Empty fields are left out, and so are fields of the page's own; `others` are those that
   * are not texts. Throws the `ApiError` that the API would respond with.
   */
  read(fields: Fields, others?: Readonly<Partial<Body>>): Body {
    const texts = Object.keys(this.#schema.properties)
      .map((name) => [name, fields[name]?.trim()] as const)
      .filter(([, text]) => text !== undefined && text !== "");
    return this.#check({ ...Object.fromEntries(texts), ...others });
  }

  /** The attributes of an input. */
  limits(name: string & keyof Body): InputAttributes {
    return inputLimits(this.#schema, name);
  }
}

/** Attributes that keep the value of an input within what a request schema allows. */
interface InputAttributes {
  readonly required?: true;
  readonly min?: number;
  readonly max?: number;
  readonly maxlength?: number;
  readonly pattern?: string;
}

interface FieldKeywords {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** The browser tells of limits early; the check of the request decides. */
export function inputLimits(
  { properties, required }: RequestSchema,
  name: string,
): InputAttributes {
  const field = properties[name] as FieldKeywords | undefined;
  if (field === undefined) throw new Error(`The request has no field ${name}`);
  const { minimum: min, maximum: max, maxLength: maxlength, pattern } = field;
  return {
    ...(required?.includes(name) ? { required: true } : {}),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(maxlength === undefined ? {} : { maxlength }),
    // A browser compares the whole value.
    ...(pattern === undefined ? {} : { pattern: pattern.replace(/^\^|\$$/g, "") }),
  };
}

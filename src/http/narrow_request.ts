import type { AnySchemaObject, ValidateFunction } from "ajv/dist/2020.js";
import type { Route } from "../platform/config/config.ts";
import { requestAjv } from "../lib/json_schema/request_ajv.ts";
import { allowNulls } from "./drop_nulls.ts";
import type { RequestBody } from "./request_body.ts";
import { toSchemaError } from "./schema_error.ts";

/** By the route of the configuration, which each reload makes anew: its schema is compiled once. */
const NARROWED = new WeakMap<Route, RequestBody<unknown>>();

/** A body must match the built-in schema, which workflows rely on, and the operator's own. */
export function narrowRequest<Body>(
  builtIn: RequestBody<Body>,
  own: AnySchemaObject,
  route: Route,
): RequestBody<Body> {
  const known = NARROWED.get(route) as RequestBody<Body> | undefined;
  if (known !== undefined) return known;
  const title = `${
    route.path.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase())
  }Request`;
  const schema = narrowedSchema(builtIn.schema, own, title);
  let compiled: ValidateFunction | undefined;
  const request: RequestBody<Body> = {
    ...builtIn,
    schema,
    published: allowNulls(schema),
    check(body) {
      const checked = builtIn.check(body);
      // An instance of its own: the `$id` of a file may come back in a newer text.
      compiled ??= requestAjv({ strictTypes: false }).compile(own);
      if (!compiled(checked)) throw toSchemaError(compiled.errors![0]!, checked);
      return checked;
    },
  };
  NARROWED.set(route, request);
  return request;
}

/** Both schemas as one, for the OpenAPI document. */
function narrowedSchema(
  builtIn: AnySchemaObject,
  own: AnySchemaObject,
  title: string,
): AnySchemaObject {
  const { $schema: _, $id: _id, properties = {}, required = [], additionalProperties, ...rest } =
    own;
  const fields = Object.entries<AnySchemaObject>(builtIn.properties)
    .filter(([name]) => additionalProperties !== false || Object.hasOwn(properties, name))
    .map(([name, field]) => [name, { ...field, ...properties[name] }]);
  const text = JSON.stringify({
    ...rest,
    type: "object",
    additionalProperties: false,
    required: [...new Set([...builtIn.required, ...required])],
    properties: Object.fromEntries(fields),
  });
  // In the document, the definitions of the file are inside of this component.
  return {
    ...JSON.parse(text.replaceAll('"$ref":"#/', `"$ref":"#/components/schemas/${title}/`)),
    title,
  };
}

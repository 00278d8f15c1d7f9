import type { AnySchemaObject } from "ajv/dist/2020.js";
import { ApiError } from "../../lib/api_error.ts";
import type { Route } from "../../platform/config/config.ts";
import { requestOf } from "../../platform/config/standard_routes.ts";
import type { GenerationBody } from "../../workflows/tasks/check_generation.ts";
import { bodySchema } from "../body_schema.ts";
import avatars from "../../../schemas/requests/avatars_generations.schema.json" with {
  type: "json",
};
import dramas from "../../../schemas/requests/dramas_generations.schema.json" with { type: "json" };
import images from "../../../schemas/requests/images_generations.schema.json" with { type: "json" };
import speech from "../../../schemas/requests/audio_speech.schema.json" with { type: "json" };
import videos from "../../../schemas/requests/videos_generations.schema.json" with { type: "json" };

export interface GenerationRequest {
  /** Its name in the OpenAPI document. */
  readonly title: string;
  readonly schema: AnySchemaObject;
  readonly check: (body: unknown) => GenerationBody;
}

function request(schema: AnySchemaObject): GenerationRequest {
  const checkSchema = bodySchema<GenerationBody>(schema, { nullIsAbsent: true });
  return {
    title: schema.title,
    schema,
    check(body) {
      const checked = checkSchema(body);
      checkStorable(checked, "");
      return checked;
    },
  };
}

/** Requests are stored, and the database accepts neither NUL nor half a surrogate pair. */
function checkStorable(value: unknown, at: string): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    const message =
      `${at} contains a character that cannot be stored, such as NUL or half an emoji.`;
    throw new ApiError("invalid_value", message, { param: at });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    checkStorable(part, at === "" ? name : `${at}.${name}`);
  }
}

/** Bodies of generation endpoints, by the name that a route of the configuration gives. */
export const GENERATION_REQUESTS: ReadonlyMap<string, GenerationRequest> = new Map([
  ["images_generations", request(images)],
  ["videos_generations", request(videos)],
  ["avatars_generations", request(avatars)],
  ["dramas_generations", request(dramas)],
]);

export const SPEECH_REQUEST: GenerationRequest = request(speech);

/** The request of a generation route; undefined where this build has none for its type. */
export function generationRequest(route: Route): GenerationRequest | undefined {
  const { requestSchema } = route;
  if (requestSchema === null) return GENERATION_REQUESTS.get(route.request ?? "");
  const builtIn = GENERATION_REQUESTS.get(requestOf(route.type!));
  if (builtIn === undefined) return undefined;
  let request = OWN_REQUESTS.get(route);
  if (request === undefined) {
    request = narrowedRequest(builtIn, requestSchema, route.path);
    OWN_REQUESTS.set(route, request);
  }
  return request;
}

/** By the route of the configuration, which each reload makes anew. */
const OWN_REQUESTS = new WeakMap<Route, GenerationRequest>();

/** A body must match the built-in schema, which workflows rely on, and the operator's. */
function narrowedRequest(
  builtIn: GenerationRequest,
  own: AnySchemaObject,
  path: string,
): GenerationRequest {
  const checkOwn = bodySchema<GenerationBody>(own, { isOwn: true });
  const title = `${
    path.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase())
  }Request`;
  return {
    title,
    schema: narrowedSchema(builtIn.schema, own, title),
    check: (body) => checkOwn(builtIn.check(body)),
  };
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

import { invalidField, type JsonFields, notSupported, objectAt, textAt } from "../translated.ts";

/** The content of a message as parts of the engine. */
export function readParts(content: unknown, param: string): JsonFields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw invalidField(param, "must be a string or a list of parts");
  return content.map((part, at) => readPart(objectAt(part, `${param}.${at}`), `${param}.${at}`));
}

export function readPart(part: JsonFields, param: string): JsonFields {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
      return { type: "text", text: textAt(part, "text", param) };
    case "refusal":
      return { type: "refusal", refusal: textAt(part, "refusal", param) };
    case "input_image":
      return readImage(part, param);
    case "input_file":
      return readFile(part, param);
    case "input_audio":
      return { type: "input_audio", input_audio: part.input_audio };
    default:
      throw notSupported(
        `${param}.type`,
        `is ${JSON.stringify(String(part.type).slice(0, 64))}, which this service does not take`,
      );
  }
}

function readImage(part: JsonFields, param: string): JsonFields {
  const { image_url: url, detail } = part;
  if (typeof url !== "string") {
    throw notSupported(
      `${param}.image_url`,
      "must be a URL or a data URL: image files have no ids here",
    );
  }
  const known = typeof detail === "string" ? { detail } : {};
  return { type: "image_url", image_url: { url, ...known } };
}

function readFile(part: JsonFields, param: string): JsonFields {
  const { file_data, filename } = part;
  if (typeof file_data !== "string") {
    throw notSupported(`${param}.file_data`, "must be a data URL: send the document itself");
  }
  return {
    type: "file",
    file: { file_data, filename: typeof filename === "string" ? filename : "document.pdf" },
  };
}

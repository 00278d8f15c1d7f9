import {
  deleteFile,
  listFiles,
  retrieveContent,
  retrieveFile,
  uploadFile,
} from "../endpoints/files.ts";
import { choice, inPath, PAGE } from "./parameters.ts";
import {
  content,
  empty,
  json,
  operationRoute,
  type RouteArea,
  type RouteResponse,
} from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

const FILE_ID = inPath("file_id", "Id of the file.");
const FILES_OPERATION = { operation: "files", auth: "api_key" } as const;

/** The responses of a request for the content of a file. */
export const CONTENT_RESPONSES: Readonly<Record<number, RouteResponse>> = {
  200: content("*/*", "The whole file."),
  206: content("*/*", "The part that `Range` asks for."),
  304: empty("The client has this version, as `If-None-Match` says."),
  416: empty("The file has no such part."),
};

export const fileRoutes: RouteArea = {
  title: "Files",
  routes: [
    operationRoute({
      ...FILES_OPERATION,
      method: "POST",
      path: "/files",
      summary: "Upload an image, audio or video file",
      form: "NewFile",
      responses: { 200: json("File", "The stored file.") },
      example: {},
      handler: uploadFile,
    }),
    operationRoute({
      ...FILES_OPERATION,
      method: "GET",
      path: "/files",
      summary: "List your files",
      parameters: [
        ...PAGE,
        choice("purpose", "`generation`: only uploads. `output`: only outputs of tasks.", [
          "generation",
          "output",
        ]),
      ],
      responses: { 200: json("FileList", "The files, newest first.") },
      example: { query: { purpose: "generation" } },
      handler: listFiles,
    }),
    operationRoute({
      ...FILES_OPERATION,
      method: "GET",
      path: "/files/{file_id}",
      summary: "Retrieve a file's type, size and expiry",
      parameters: [FILE_ID],
      responses: { 200: json("File", "The file.") },
      example: { path: { file_id: SAMPLE.image } },
      handler: retrieveFile,
    }),
    operationRoute({
      ...FILES_OPERATION,
      method: "DELETE",
      path: "/files/{file_id}",
      summary: "Delete a file and free its space",
      parameters: [FILE_ID],
      responses: { 200: json("DeletedFile", "The file is deleted.") },
      example: { path: { file_id: SAMPLE.image } },
      handler: deleteFile,
    }),
    operationRoute({
      ...FILES_OPERATION,
      method: "GET",
      path: "/files/{file_id}/content",
      summary: "Download a file",
      description: "Supports `Range`, `If-Range`, `If-None-Match` and `HEAD`.",
      parameters: [FILE_ID],
      responses: CONTENT_RESPONSES,
      example: { path: { file_id: SAMPLE.image } },
      handler: retrieveContent,
    }),
  ],
};

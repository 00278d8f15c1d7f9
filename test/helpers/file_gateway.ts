import { openGateway, type TestGateway, type TestGatewayOptions } from "./open_gateway.ts";
import { filePart, form, FORM_TYPE, type Part, PURPOSE } from "./form.ts";
import type { Json } from "./chat_gateway.ts";

export interface FileGateway extends TestGateway {
  /** Sends a form, whatever it holds. */
  send(body: BodyInit, headers?: Record<string, string>): Promise<Response>;
  sendParts(...parts: Part[]): Promise<Response>;
  /** Uploads bytes that are expected to be taken. */
  upload(bytes: Uint8Array, filename?: string, key?: string): Promise<Json>;
  delete(path: string): Promise<Response>;
  /** What lies in the folder of files, as paths. */
  stored(): Promise<string[]>;
  rows(): Promise<number>;
}

/** Limits that a test can exceed without megabytes. */
export const SMALL_LIMITS =
  "storage: { uploads: { image_bytes_max: 2000, audio_bytes_max: 40000, video_bytes_max: 300000 } }\n";

const CONFIG = new URL("./config.yaml", import.meta.url);

export async function openFileGateway(
  options: TestGatewayOptions & { storage?: string } = {},
): Promise<FileGateway> {
  const { storage = SMALL_LIMITS, ...rest } = options;
  const config = storage + await Deno.readTextFile(CONFIG);
  const gateway = await openGateway({ config, ...rest });
  const send = (body: BodyInit, headers: Record<string, string> = {}) =>
    gateway.fetch("/v1/files", {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": FORM_TYPE,
        ...headers,
      },
      body,
    });
  return {
    ...gateway,
    send,
    sendParts: (...parts) => send(form(parts)),
    async upload(bytes, filename, key = gateway.key) {
      const body = form([PURPOSE, filePart(bytes, filename)]);
      const response = await send(body, { authorization: `Bearer ${key}` });
      const file = await response.json();
      if (response.status !== 200) throw new Error(JSON.stringify(file));
      return file;
    },
    delete: (path) =>
      gateway.fetch(path, {
        method: "DELETE",
        headers: { authorization: `Bearer ${gateway.key}` },
      }),
    stored: () => filesIn(`${gateway.store.dataDir}/files`),
    async rows() {
      const [{ count }] = await gateway.gateway.database.sql<[{ count: number }]>`
        select count(*)::int as count from file`;
      return count;
    },
  };
}

/** All files in a folder but the one that names it. */
export async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) found.push(...await filesIn(`${folder}/${name}`));
      else if (name !== "store-id") found.push(`${folder}/${name}`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found;
}

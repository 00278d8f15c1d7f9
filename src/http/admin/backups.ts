import { writeAudit } from "../../domain/audit/audit.ts";
import { actorOf } from "./actor.ts";
import { ApiError } from "../../lib/api_error.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/backups: copies the embedded database while it runs. */
export function createBackup({ database }: RouteDeps): Endpoint {
  return async function createBackup(c) {
    if (database.backup === undefined) {
      throw new ApiError(
        "invalid_value",
        "The database is on a server: back it up there, with pg_dump or snapshots.",
      );
    }
    const folder = await database.backup();
    await writeAudit(database.sql, actorOf(c), {
      action: "backup.create",
      subject: null,
      after: { folder },
    });
    return sendJson(JSON.stringify({ object: "backup", folder }), 201);
  };
}

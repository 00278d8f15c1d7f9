import type { Actor } from "../../domain/audit/audit.ts";
import { COMMAND_LINE } from "../../lib/command_line_agent.ts";
import type { HttpContext } from "../exchange.ts";
import { adminCallerOf } from "./require_token.ts";

/** Who calls the admin API, for the audit log. */
export function actorOf(c: HttpContext): Actor {
  const caller = adminCallerOf(c);
  return {
    ...(caller === "root"
      ? { kind: "root", id: null, name: "root token" }
      : { kind: "admin_token", id: caller.id, name: caller.name }),
    via: c.req.header("user-agent") === COMMAND_LINE ? "cli" : "api",
    requestId: c.env.requestId,
  };
}

import { ADMIN_SCOPES, type AdminToken } from "../domain/accounts/admin_tokens.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command, optionText, table, UsageError } from "./command.ts";

export const tokenCreate: Command = {
  usage: "token create <name> --scopes <scopes>",
  summary: "Create an admin token with scopes; the token is shown only once",
  endpoints: ["POST /admin/v1/tokens"],
  options: {
    scopes: {
      type: "string",
      summary: `What it may do, separated by commas: ${ADMIN_SCOPES.join(", ")}`,
    },
  },
  async run(terminal, args, options) {
    const scopes = optionText(options, "scopes");
    if (scopes === undefined) {
      throw new UsageError(`Missing option: --scopes <scopes>, of ${ADMIN_SCOPES.join(", ")}.`);
    }
    const token = await callAdminApi<AdminToken & { token: string }>(terminal, "POST", "/tokens", {
      name: argument(args, 0, "name"),
      scopes: scopes.split(",").map((scope) => scope.trim()),
    });
    terminal.print(
      token,
      `${token.token}\n\nAdmin token created: ${token.id} (${token.name}), scopes ${
        token.scopes.join(", ")
      }. Copy the token now. You won't be able to see it again.`,
    );
    return 0;
  },
};

export const tokenList: Command = {
  usage: "token list",
  summary: "List admin tokens, newest first",
  endpoints: ["GET /admin/v1/tokens"],
  async run(terminal) {
    const list = await callAdminApi<{ data: AdminToken[] }>(terminal, "GET", "/tokens");
    const rows = list.data.map((token) => [
      token.id,
      token.name,
      token.scopes.join(","),
      `…${token.last4}`,
      token.revoked === null ? "active" : "revoked",
      token.last_used === null
        ? "never used"
        : `used ${new Date(token.last_used * 1000).toISOString()}`,
    ]);
    terminal.print(list, rows.length === 0 ? "No admin tokens." : table(rows));
    return 0;
  },
};

export const tokenRevoke: Command = {
  usage: "token revoke <token id>",
  summary: "Revoke an admin token; it stops working at once",
  endpoints: ["DELETE /admin/v1/tokens/{id}"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "token id"));
    const token = await callAdminApi<AdminToken>(terminal, "DELETE", `/tokens/${id}`);
    terminal.print(token, `Admin token revoked: ${token.id} (${token.name}, …${token.last4}).`);
    return 0;
  },
};

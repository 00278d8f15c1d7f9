import type { OperatorRequest } from "../domain/requests/find_requests.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command, optionText, table, tableOf } from "./command.ts";

interface RequestList {
  data: OperatorRequest[];
  has_more: boolean;
}

const COLUMNS = ["ID", "ACCOUNT", "ENDPOINT", "MODEL", "STATUS", "MS", "ATTEMPTS", "CREATED"];
const FILTERS = ["account", "status", "model", "key", "endpoint", "id", "from", "to", "after"];

export const requestList: Command = {
  usage: "request list [--account <id>] [--status <status>] [--model <model>] [--id <id>]",
  summary: "List requests of the log, newest first, with the upstreams that were tried",
  endpoints: ["GET /admin/v1/requests"],
  options: {
    account: { type: "string", summary: "Only requests of this account" },
    status: { type: "string", summary: "A status such as 429, or a class such as 5xx" },
    model: { type: "string", summary: "Only requests that named this model" },
    key: { type: "string", summary: "Only requests with this API key, by its id" },
    endpoint: { type: "string", summary: "Only requests to this endpoint, such as chat" },
    id: { type: "string", summary: "The request's id, or the client's own" },
    from: { type: "string", summary: "Only requests from this time on" },
    to: { type: "string", summary: "Only requests before this time" },
    after: { type: "string", summary: "Show the page after this request id" },
  },
  async run(terminal, _args, options) {
    const query = new URLSearchParams({ limit: "100" });
    for (const name of FILTERS) {
      const value = optionText(options, name);
      if (value !== undefined) query.set(name, value);
    }
    const list = await callAdminApi<RequestList>(terminal, "GET", `/requests?${query}`);
    const rows = list.data.map((request) => [
      request.id,
      request.account,
      `${request.method} ${request.endpoint ?? "unknown"}`,
      request.model ?? "",
      `${request.status} ${request.error_code ?? ""}`,
      String(request.duration_ms),
      request.attempts.map(({ provider, outcome }) => `${provider}: ${outcome}`).join(", "),
      new Date(request.created * 1000).toISOString(),
    ]);
    const more = list.has_more ? `\n\nMore requests: add --after ${list.data.at(-1)?.id}` : "";
    terminal.print(list, rows.length === 0 ? "No requests." : table([COLUMNS, ...rows]) + more);
    return 0;
  },
};

export const requestShow: Command = {
  usage: "request show <request>",
  summary: "Show a request of the log and every attempt at an upstream",
  endpoints: ["GET /admin/v1/requests/{id}"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "request"));
    const request = await callAdminApi<OperatorRequest>(terminal, "GET", `/requests/${id}`);
    terminal.print(request, tableOf(request));
    return 0;
  },
};

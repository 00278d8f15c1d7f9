import type { ProviderTest } from "../upstream/test_provider.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command } from "./command.ts";

export const providerTest: Command = {
  usage: "provider test <name> [model]",
  summary: "Send one small request to a provider and show what came back and how long it took",
  endpoints: ["POST /admin/v1/providers/{id}/test"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "name"));
    const model = args[1];
    const test = await callAdminApi<ProviderTest>(terminal, "POST", `/providers/${id}/test`, {
      ...(model === undefined ? {} : { model }),
    });
    const status = test.status === null ? "" : ` (HTTP ${test.status})`;
    terminal.print(
      test,
      `${test.provider}, ${test.upstream_model} as ${test.model}: ${test.outcome}${status} after ${test.duration_ms} ms` +
        (test.text === "" ? "" : `\n${test.text}`),
    );
    return test.ok ? 0 : 1;
  },
};

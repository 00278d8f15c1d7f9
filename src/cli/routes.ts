import { placeRoutes } from "../http/routes/registry.ts";
import { compileFile } from "./check.ts";
import { type Command, table } from "./command.ts";

export const runRoutes: Command = {
  usage: "routes [file]",
  summary: "List the endpoints of a configuration file with their operations and stages",
  async run(terminal, [file = terminal.settings.configFile]) {
    const { config, issues, report } = await compileFile(terminal, file);
    if (config === null) {
      terminal.print({ ok: false, file, issues }, report);
      return 1;
    }
    const endpoints = placeRoutes(config).map(({ route, path, configured }) => ({
      method: route.method,
      path,
      operation: route.operation ?? null,
      stage: configured?.stage ?? "released",
      summary: route.summary,
    }));
    const rows = endpoints.map((each) => [
      each.method,
      each.path,
      each.operation ?? "",
      each.stage,
      each.summary,
    ]);
    terminal.print(
      endpoints,
      table([["METHOD", "PATH", "OPERATION", "STAGE", "SUMMARY"], ...rows]),
    );
    return 0;
  },
};

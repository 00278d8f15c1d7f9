import { join } from "node:path";
import { compileConfig } from "../../src/platform/config/compile.ts";
import { buildCapabilities } from "../../src/app/build_capabilities.ts";
import { generator, median, printTable, requestsPerSecond, takeTurns } from "./load.ts";
import { configOf, makeAccount, openGround, startGateway } from "./servers.ts";

const GOAL = 0.95;

/** A thousand models: how long they take to compile, and that they do not show in a request. */
export async function run(): Promise<void> {
  const times = (models: number) => {
    const source = configOf(models);
    return median(Array.from({ length: 5 }, () => {
      const from = performance.now();
      const { config } = compileConfig({
        file: "bench.yaml",
        source,
        environment: {},
        capabilities: buildCapabilities(),
        now: Date.now(),
      });
      if (config?.models.size !== models) throw new Error("the configuration did not compile");
      return performance.now() - from;
    }));
  };
  times(10);
  const [few, many] = [times(100), times(1000)];
  console.log("load, validate, cross-check and compile, median of 5\n");
  printTable([
    ["", "ms", "ms per model"],
    ["100 models", few.toFixed(1), (few / 100).toFixed(3)],
    ["1,000 models", many.toFixed(1), (many / 1000).toFixed(3)],
  ]);

  await using ground = await openGround();
  const serve = async (models: number) => {
    const config = join(ground.folder, `${models}.yaml`);
    await Deno.writeTextFile(config, configOf(models));
    return await startGateway(config, ground.databaseUrl, join(ground.folder, String(models)));
  };
  await using small = await serve(10);
  await using large = await serve(1000);
  const load = { connections: 64, seconds: 2 };
  const [smallKey, largeKey] = [(await makeAccount(small)).key, (await makeAccount(large)).key];
  const measured = await takeTurns(9, {
    small: () =>
      requestsPerSecond({
        ...load,
        url: `${small.address}/v1/models/model-9`,
        headers: { authorization: `Bearer ${smallKey}` },
      }),
    large: () =>
      requestsPerSecond({
        ...load,
        url: `${large.address}/v1/models/model-999`,
        headers: { authorization: `Bearer ${largeKey}` },
      }),
  });
  const ratio = measured.large! / measured.small!;
  console.log(
    `\nGET /v1/models/{id}, ${load.connections} connections, load by ${await generator()}, median of 9 turns\n`,
  );
  printTable([
    ["", "requests/s"],
    ["10 models", measured.small!.toFixed(0)],
    ["1,000 models", measured.large!.toFixed(0)],
    ["ratio", `${ratio.toFixed(3)} (goal ${GOAL})`],
  ]);
  if (ratio < GOAL) Deno.exitCode = 1;
}

if (import.meta.main) await run();

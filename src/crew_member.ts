/** One thread of `WORKERS=n`: a gateway that starts and stops when crew.ts says so. */
import { banner } from "./banner.ts";
import type { Order, Report } from "./crew.ts";
import { readSettings } from "./environment.ts";
import { explain } from "./explain.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import { openLog } from "./telemetry/log.ts";

const scope = self as unknown as {
  name: string;
  onmessage: ((event: MessageEvent<Order>) => void) | null;
  postMessage(report: Report): void;
};
let opening: Promise<Gateway | null> = Promise.resolve(null);

async function start(port: number | null): Promise<Gateway | null> {
  try {
    const environment = Deno.env.toObject();
    const settings = readSettings(environment);
    const log = openLog({ level: settings.logLevel, format: settings.logFormat });
    const options = { ...settings, log, environment, port: port ?? settings.port };
    const gateway = await openGateway(options);
    scope.postMessage({
      kind: "ready",
      port: Number(new URL(gateway.address).port),
      banner: await banner(gateway, settings),
    });
    return gateway;
  } catch (error) {
    scope.postMessage({ kind: "failed", reason: explain(error) });
    return null;
  }
}

async function stop(): Promise<void> {
  await (await opening)?.[Symbol.asyncDispose]();
  scope.postMessage({ kind: "ended" });
}

scope.onmessage = ({ data }) => {
  if (data.kind === "start") opening = start(data.port);
  else void stop();
};

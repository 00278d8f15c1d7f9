/**
 * Plays outages with a real gateway, Postgres and Prometheus, and prints what an operator sees of each: log lines,
 * metrics, alerts and the command line. docs/operate/troubleshooting.md quotes it. Takes eight minutes.
 */
import { sleep } from "../../src/lib/timers.ts";
import { gatewayConfig, openStage, type Stage } from "./stage.ts";

const METRICS =
  /^tollgate_(upstream_attempts_total|upstream_breaker_open|config_reload_ok|api_errors_total|spans_lost_total)/;

/** What a scene does, waits for, and puts right again. */
interface Scene {
  readonly title: string;
  begin(stage: Stage): Promise<void> | void;
  readonly seconds: number;
  /** Commands that an operator would run meanwhile. */
  readonly commands: readonly (readonly string[])[];
  end(stage: Stage): Promise<void> | void;
  /** How long it takes until all is as before: a circuit breaker waits longer after every failed test. */
  readonly recoverySeconds: number;
}

const SCENES: readonly Scene[] = [
  {
    title: "A provider has revoked our key",
    begin: ({ alpha }) => void (alpha.behaviour = "rejects the key"),
    seconds: 80,
    commands: [["provider", "test", "alpha"], ["upstream", "list", "--window", "15m"]],
    end: ({ alpha }) => void (alpha.behaviour = "fine"),
    recoverySeconds: 85,
  },
  {
    title: "A provider is slow",
    begin: ({ alpha }) => void (alpha.behaviour = "slow"),
    seconds: 60,
    commands: [["upstream", "list", "--window", "15m"]],
    end: ({ alpha }) => void (alpha.behaviour = "fine"),
    recoverySeconds: 85,
  },
  {
    title: "Postgres is gone",
    begin: ({ postgres }) => postgres.kill(),
    seconds: 75,
    commands: [],
    end: ({ postgres }) => postgres.restart(),
    recoverySeconds: 40,
  },
  {
    title: "A reload with errors",
    async begin({ configFile, alpha, beta }) {
      const text = gatewayConfig(alpha.url, beta.url);
      await Deno.writeTextFile(configFile, text.replace("provider: beta", "provider: betta"));
    },
    seconds: 30,
    commands: [["check"], ["plan"]],
    async end({ configFile, alpha, beta }) {
      await Deno.writeTextFile(configFile, gatewayConfig(alpha.url, beta.url));
    },
    recoverySeconds: 10,
  },
];

await using stage = await openStage();
await sleep(10_000);
for (const scene of SCENES) await play(stage, scene);

async function play(stage: Stage, scene: Scene): Promise<void> {
  console.log(`\n# ${scene.title}`);
  stage.clients.take();
  let seen = stage.gateway.stderr().length;
  const newLines = () => {
    const text = stage.gateway.stderr().slice(seen);
    seen += text.length;
    return summarise(text);
  };
  await scene.begin(stage);
  await sleep(scene.seconds * 1000);
  print("clients", [JSON.stringify(stage.clients.take())]);
  print("log", newLines());
  print("metrics", (await stage.metrics()).filter((line) => METRICS.test(line)));
  print("alerts", await stage.prometheus.alerts());
  print("readyz", [await (await fetch(`${stage.gateway.address}/readyz`)).text()]);
  for (const command of scene.commands) {
    print(`gateway ${command.join(" ")}`, [await stage.run(...command)]);
  }
  newLines();
  await scene.end(stage);
  await sleep(scene.recoverySeconds * 1000);
  print("clients, after it was put right", [JSON.stringify(stage.clients.take())]);
  print("log", newLines());
}

/** The first line of each message, with how often it came. Lines of requests that succeeded are left out. */
function summarise(text: string): string[] {
  const lines = text.trim().split("\n").filter((line) => line.startsWith("{"));
  const byMessage = Map.groupBy(lines, (line) => {
    const { message, status, reason } = JSON.parse(line);
    return `${message} ${status} ${reason}`;
  });
  return [...byMessage].filter(([name]) => !/^request 2/.test(name))
    .map(([, [first, ...more]]) => more.length === 0 ? first! : `${first} (${more.length} more)`);
}

function print(what: string, lines: readonly string[]): void {
  console.log(`\n## ${what}\n${lines.join("\n").trimEnd()}`);
}

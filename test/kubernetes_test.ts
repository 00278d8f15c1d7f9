import assert from "node:assert/strict";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { readSettings, SETTING_VARIABLES } from "../src/app/environment.ts";
import { STOP_MS } from "../src/app/stop_time.ts";
import { validateEnvironment } from "../src/app/validate_environment.ts";
import { healthRoutes } from "../src/http/routes/health.ts";
import type { Json } from "./helpers/chat_gateway.ts";
import { compileText } from "./helpers/valid_config.ts";

const ROOT = join(import.meta.dirname!, "..");
const FOLDER = join(ROOT, "deploy/kubernetes");
const EXAMPLE = "secret.example.yaml";
/** What is applied with `kubectl apply -f`, beside what kustomize applies. */
const BESIDE = [EXAMPLE, "monitoring/service-monitor.yaml"];

const read = (file: string) => Deno.readTextFile(join(FOLDER, file));
const kustomization: Json = parse(await read("kustomization.yaml"));
const manifests: Json[] = [];
for (const file of [...kustomization.resources, ...BESIDE]) {
  manifests.push(...parseAllDocuments(await read(file)).map((document) => document.toJS()));
}

function manifest(kind: string, name = "tollgate"): Json {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  assert.ok(found !== undefined, `${kind} ${name}`);
  return found;
}
const { template } = manifest("Deployment").spec;
const [gateway] = template.spec.containers;
const config = await read(kustomization.configMapGenerator[0].files[0]);
/** Variables that the configuration refers to. */
const inConfig = new Set([...config.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));

/** Type errors of manifests. The types are made of Kubernetes' own OpenAPI document; a literal may have no other key. */
async function typeErrors(all: readonly Json[]): Promise<string> {
  const lines = all.map((one, index) => {
    const from = one.apiVersion.startsWith("monitoring.coreos.com")
      ? "@kubernetes-models/prometheus-operator"
      : "kubernetes-models";
    const type = `import("${from}/${one.apiVersion}/${one.kind}").I${one.kind}`;
    return `export const manifest${index}: ${type} = ${JSON.stringify(one)};`;
  });
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, lines.join("\n"));
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", join(ROOT, "deno.json"), file],
      env: { NO_COLOR: "1" },
    }).output();
    return success ? "" : new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("every manifest is of Kubernetes' types, and a wrong key or type would be noticed", async () => {
  assert.equal(await typeErrors(manifests), "");
  const wrong = structuredClone(manifest("Deployment"));
  wrong.spec.template.spec.containers[0].readinesProbe = {};
  wrong.spec.replicas = "three";
  const errors = await typeErrors([wrong]);
  assert.match(errors, /readinesProbe.* does not exist in type 'IContainer'/);
  assert.match(errors, /'string' is not assignable to type 'number'/);
});

Deno.test("every file is used, and names in manifests refer to each other", async () => {
  const files: string[] = [];
  for await (const { name, isFile } of Deno.readDir(FOLDER)) if (isFile) files.push(name);
  const { resources, configMapGenerator: [{ name: configMap, files: configs }] } = kustomization;
  assert.deepEqual(
    files.sort(),
    [...resources, ...configs, EXAMPLE, "kustomization.yaml"].sort(),
  );
  assert.deepEqual(kustomization.images.map(({ name }: Json) => name), [gateway.image]);
  assert.equal(kustomization.namespace, manifest("Namespace").metadata.name);

  const volumes = new Map<string, Json>(template.spec.volumes.map((one: Json) => [one.name, one]));
  assert.equal(volumes.get("config")!.configMap.name, configMap);
  for (const { name } of gateway.volumeMounts) assert.ok(volumes.has(name), name);
  assert.equal(gateway.envFrom[0].secretRef.name, manifest("Secret").metadata.name);
  const labels = manifest("Deployment").spec.selector.matchLabels;
  for (const selected of [template.metadata.labels, manifest("Service").spec.selector]) {
    assert.deepEqual(selected, labels);
  }
  for (const kind of ["PodDisruptionBudget", "ServiceMonitor"]) {
    assert.deepEqual(manifest(kind).spec.selector.matchLabels, labels);
  }
  assert.deepEqual(manifest("NetworkPolicy").spec.podSelector.matchLabels, labels);
  assert.deepEqual(manifest("Service").metadata.labels, labels, "the monitor finds the service");
  assert.equal(manifest("Service", "tollgate-private").metadata.labels, undefined);
});

Deno.test("probes ask endpoints that exist, on the port that the image listens on", async () => {
  const { startupProbe, livenessProbe, readinessProbe, ports: [port] } = gateway;
  assert.deepEqual(
    [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path),
    ["/healthz", "/healthz", "/readyz"],
  );
  const paths = healthRoutes.routes.map(({ path }) => path);
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
    assert.ok(paths.includes(httpGet.path));
    assert.equal(httpGet.port, port.name);
  }
  const image = await Deno.readTextFile(join(ROOT, "Containerfile"));
  assert.match(image, new RegExp(`PORT=${port.containerPort}\\b`));
  const { endpoints: [scraped] } = manifest("ServiceMonitor").spec;
  const { ports: [served] } = manifest("Service").spec;
  assert.deepEqual([scraped.port, served.targetPort], [served.name, port.name]);
});

Deno.test("a pod may take longer to stop than the pause before SIGTERM and the gateway together", () => {
  const { exec: { command: [program, seconds] } } = gateway.lifecycle.preStop;
  assert.equal(program, "sleep");
  const needed = Number(seconds) + STOP_MS / 1000;
  const { terminationGracePeriodSeconds: given } = template.spec;
  assert.ok(given > needed, `${given} s for ${needed} s`);
});

Deno.test("pods run as the image's user, without privileges, on a file system that they cannot write", async () => {
  const image = await Deno.readTextFile(join(ROOT, "Containerfile"));
  const [, user] = /^USER (\d+)$/m.exec(image)!;
  const { runAsNonRoot, runAsUser, runAsGroup, seccompProfile } = template.spec.securityContext;
  assert.deepEqual([runAsNonRoot, runAsUser, runAsGroup], [true, Number(user), Number(user)]);
  assert.equal(seccompProfile.type, "RuntimeDefault");
  assert.deepEqual(gateway.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const writable = gateway.volumeMounts.filter(({ readOnly }: Json) => readOnly !== true);
  const [, dataDir] = /DATA_DIR=(\S+)/.exec(image)!;
  assert.deepEqual(writable.map(({ mountPath }: Json) => mountPath), [dataDir, "/tmp"]);
});

Deno.test("every variable of the pods is a setting or in the configuration, and no placeholder starts a gateway", () => {
  const { stringData: secrets } = manifest("Secret");
  const given = { ...secrets };
  for (const { name, value } of gateway.env) given[name] = value;
  assert.throws(() => readSettings(given), (error: Error) => {
    for (const name of ["DATABASE_URL", "ADMIN_TOKEN", "SECRETS_KEY", "METRICS_TOKEN"]) {
      assert.match(error.message, new RegExp(`${name} must`));
    }
    return true;
  });
  const others = Object.keys(given).filter((name) => !SETTING_VARIABLES.includes(name));
  assert.deepEqual(others.sort(), [...inConfig].sort());
  assert.ok(
    Object.hasOwn(
      secrets,
      manifest("ServiceMonitor").spec.endpoints[0].authorization.credentials.key,
    ),
  );
});

Deno.test("the configuration has no error and no warning, and is one for several nodes", () => {
  const values = Object.fromEntries([...inConfig].map((name) => [name, "x".repeat(20)]));
  const { config: compiled, issues } = compileText(config, values);
  assert.deepEqual(issues, []);
  const { storage } = compiled!;
  assert.deepEqual([storage.queue, storage.sessions, storage.files], [
    "postgres",
    "postgres",
    "s3",
  ]);
  const databaseUrl = "postgres://user:password@host/tollgate";
  validateEnvironment({ databaseUrl, adminToken: "x", onDeploy: false, workers: 4 }, compiled!);
  const [{ host }] = manifest("Ingress").spec.rules;
  assert.equal(new URL(compiled!.site.url!).host, host);
});

Deno.test("the ingress publishes everything but /admin and /metrics, which no pod serves through it", () => {
  const [{ http: { paths } }] = manifest("Ingress").spec.rules;
  const backends = new Map<string, string>(
    paths.map(({ path, pathType, backend }: Json) => {
      assert.equal(pathType, "Prefix");
      return [path, backend.service.name];
    }),
  );
  assert.deepEqual(Object.fromEntries(backends), {
    "/admin": "tollgate-private",
    "/metrics": "tollgate-private",
    "/": "tollgate",
  });
  assert.equal(manifest("Service", "tollgate-private").spec.selector, undefined);
});

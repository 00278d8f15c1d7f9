import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "yaml";
import { until } from "./helpers/chat_gateway.ts";
import { freePort } from "../scripts/free_port.ts";

const ROOT = join(import.meta.dirname!, "..");
const read = (path: string) => Deno.readTextFile(join(ROOT, path));

/** What a program says; null where it is not installed. */
async function run(name: string, args: string[]): Promise<{ ok: boolean; said: string } | null> {
  try {
    const output = await new Deno.Command(name, { args, stdin: "null" }).output();
    const text = new TextDecoder();
    return { ok: output.success, said: text.decode(output.stdout) + text.decode(output.stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return null;
  }
}

async function folder() {
  const path = await Deno.makeTempDir({ prefix: "tollgate-deploy-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** The site inside what the distribution's nginx.conf puts around it. */
async function nginxConfig(folder: string, change: (site: string) => string): Promise<string> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`);
  const file = join(folder, "nginx.conf");
  await Deno.writeTextFile(
    file,
    `daemon off; error_log stderr; pid ${folder}/pid; events {}
     http { access_log off; ${temporary.join(" ")} ${change(await read("deploy/nginx.conf"))} }`,
  );
  return file;
}

Deno.test("nginx takes the site as it is", async () => {
  await using made = await folder();
  const tls = (file: string) => join(ROOT, "test/helpers/tls", file);
  const file = await nginxConfig(
    made.path,
    (site) =>
      site.replace("/etc/ssl/tollgate/fullchain.pem", tls("cert.pem"))
        .replace("/etc/ssl/tollgate/privkey.pem", tls("key.pem")),
  );
  const checked = await run("nginx", ["-t", "-c", file, "-p", made.path]);
  if (checked !== null) assert.ok(checked.ok, checked.said);
});

Deno.test("through that site a stream arrives as it is written, and an upload is passed on as it comes", async () => {
  if (await run("nginx", ["-v"]) === null) return;
  await using made = await folder();
  // The second half is written when the first has arrived: a proxy that buffers would wait for ever.
  const arrived = { stream: Promise.withResolvers<void>(), upload: Promise.withResolvers<void>() };
  await using upstream = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      if (request.method === "POST") {
        const reader = request.body!.getReader();
        await reader.read();
        arrived.upload.resolve();
        while (!(await reader.read()).done);
        return new Response("taken");
      }
      async function* halves() {
        yield new TextEncoder().encode("data: 1\n\n");
        await arrived.stream.promise;
        yield new TextEncoder().encode("data: 2\n\n");
      }
      return new Response(ReadableStream.from(halves()), {
        headers: { "content-type": "text/event-stream" },
      });
    },
  );
  const port = freePort();
  const file = await nginxConfig(
    made.path,
    (site) =>
      site.replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
        .replace(/ssl_certificate.*/g, "")
        .replace("server 127.0.0.1:8787", `server 127.0.0.1:${upstream.addr.port}`),
  );
  const nginx = new Deno.Command("nginx", {
    args: ["-c", file, "-p", made.path],
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const address = `http://127.0.0.1:${port}/`;
    await until(
      "nginx listens",
      () =>
        Deno.connect({ hostname: "127.0.0.1", port }).then((c) => (c.close(), true), () => false),
      20,
    );
    const reader = (await fetch(address)).body!.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), "data: 1\n\n");
    arrived.stream.resolve();
    assert.equal(new TextDecoder().decode((await reader.read()).value), "data: 2\n\n");
    assert.equal((await reader.read()).done, true);

    for (
      const path of ["admin/v1/accounts", "admin", "metrics", "/admin/v1/accounts", "%61dmin/v1/x"]
    ) {
      const hidden = await fetch(address + path);
      assert.equal(hidden.status, 404, path);
      await hidden.body?.cancel();
    }

    const parts = async function* () {
      yield new Uint8Array(100_000);
      await arrived.upload.promise;
      yield new Uint8Array(100_000);
    };
    const sent = await fetch(address, { method: "POST", body: ReadableStream.from(parts()) });
    assert.equal(await sent.text(), "taken");
  } finally {
    nginx.kill("SIGTERM");
    await nginx.status;
  }
});

Deno.test("Prometheus takes the alert rules, and each names metrics that exist", async () => {
  const file = "deploy/prometheus/alerts.yaml";
  const checked = await run("promtool", ["check", "rules", join(ROOT, file)]);
  if (checked !== null) assert.ok(checked.ok, checked.said);
  const { groups } = parse(await read(file));
  for (const { alert, expr } of groups[0].rules as { alert: string; expr: string }[]) {
    assert.deepEqual(await unknownMetrics(expr), [], alert);
  }
});

Deno.test("the dashboard asks for metrics that exist, in expressions that Prometheus can parse", async () => {
  await using made = await folder();
  const { panels } = JSON.parse(await read("deploy/grafana/dashboard.json"));
  const rules = [];
  for (const { title, targets } of panels as { title: string; targets: { expr: string }[] }[]) {
    for (const { expr } of targets) {
      assert.deepEqual(await unknownMetrics(expr), [], title);
      rules.push({ record: `panel:${rules.length}`, expr });
    }
  }
  const file = join(made.path, "rules.json");
  await Deno.writeTextFile(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
  const checked = await run("promtool", ["check", "rules", file]);
  if (checked !== null) assert.ok(checked.ok, checked.said);
});

/** Metrics of an expression that the gateway does not have. */
async function unknownMetrics(expr: string): Promise<string[]> {
  const documented = await read("docs/operate/metrics.md");
  return [...expr.matchAll(/tollgate_\w+/g)].map(([name]) => name)
    .filter((name) => !documented.includes(`\`${name.replace(/_(bucket|count|sum)$/, "")}\``));
}

Deno.test("systemd takes the unit as it is", async () => {
  const unit = await read("deploy/tollgate.service");
  await using made = await folder();
  const file = join(made.path, "tollgate.service");
  await Deno.writeTextFile(file, unit.replace("/usr/local/bin/deno", Deno.execPath()));
  const checked = await run("systemd-analyze", ["verify", "--man=no", file]);
  if (checked === null) return;
  // It also complains about other units of the machine.
  const ours = checked.said.split("\n").filter((line) => line.includes("tollgate"));
  assert.deepEqual(ours, []);
});

Deno.test("the composition is whole: every service, volume and file it names is there", async () => {
  const { services, volumes } = parse(await read("compose.yaml"));
  assert.deepEqual(Object.keys(services), ["postgres", "gateway", "proxy"]);
  await Deno.stat(join(ROOT, services.gateway.build.dockerfile));
  for (const service of Object.values<Record<string, unknown>>(services)) {
    for (const mount of (service.volumes ?? []) as string[]) {
      const from = mount.split(":")[0]!;
      if (from.startsWith("./")) await Deno.stat(join(ROOT, from));
      else assert.ok(from in volumes, `volume ${from}`);
    }
    for (const other of Object.keys((service.depends_on ?? {}) as object)) {
      assert.ok(other in services, other);
    }
  }
});

Deno.test("the container image runs the pinned Deno as an ordinary user, and copies only files that exist", async () => {
  const text = (await read("Containerfile")).replaceAll("\\\n", " ");
  const steps = text.split("\n").filter((line) => /^[A-Z]/.test(line)).map((line) => {
    const [name, ...rest] = line.split(" ");
    return { name: name!, rest: rest.join(" ") };
  });
  const version = /const VERSION = "(.+)"/.exec(await read("scripts/deno.mjs"))![1];
  assert.deepEqual(steps[0], { name: "FROM", rest: `denoland/deno:${version}` });
  const at = (name: string) => steps.findIndex((step) => step.name === name);
  assert.ok(at("USER") > 0 && at("USER") < at("CMD"));
  for (const { name, rest } of steps.filter(({ name }) => name === "COPY")) {
    const sources = rest.split(" ").filter((word) => !word.startsWith("--")).slice(0, -1);
    for (const source of sources) {
      await Deno.stat(join(ROOT, source)).catch(() => assert.fail(`${name} ${source}`));
    }
  }
  for (const name of ["CMD", "HEALTHCHECK"]) {
    const { rest } = steps[at(name)]!;
    assert.ok(Array.isArray(JSON.parse(rest.slice(rest.indexOf("[")))), name);
  }
  for (const [, file] of text.matchAll(/ (src\/[\w/]+\.ts)/g)) await Deno.stat(join(ROOT, file!));
});

Deno.test("every file that the deployment guide links to is there", async () => {
  const guide = await read("docs/operate/deploy.md");
  const links = [...guide.matchAll(/\]\((\.\.[^)]+)\)/g)].map(([, link]) => link!);
  assert.notEqual(links.length, 0);
  for (const link of links) {
    await assert.doesNotReject(Deno.stat(join(ROOT, "docs/operate", link)), link);
  }
});

Deno.test("an image has the guides that the site shows", async () => {
  for (const file of [".containerignore", ".dockerignore"]) {
    const ignored = (await read(file)).split("\n").filter((line) =>
      /^(?:\*\*\/)?(?:docs|\*\.md)/.test(line)
    );
    assert.deepEqual(ignored, [], file);
  }
});

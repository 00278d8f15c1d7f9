import assert from "node:assert/strict";
import { join } from "node:path";
import { Adapters } from "../../../providers/adapters.ts";
import { buildCapabilities } from "../../app/build_capabilities.ts";
import { compileConfig } from "./compile.ts";
import { ConfigStore } from "./config_store.ts";
import { watchConfigFile } from "./watch.ts";
import { noLog } from "../../../test/helpers/logs.ts";

const adapters = new Adapters();

const SERVICE = `name: Atelier
base_url: https://api.atelier.example/v2
media:
  image:
    submit: { path: /make, body: { text: =prompt } }
    outputs: { base64: =file }
`;

function configFile(adapter: string, type = "image"): string {
  const [capability, price] = type === "image"
    ? ["text_to_image", "billing_type: per_call, price: '1', unit: image"]
    : ["chat", "billing_type: per_call, price: '1', unit: call"];
  return `providers:
  atelier: { adapter: ${adapter} }
models:
  - { id: m, name: M, type: ${type}, capabilities: [${capability}], upstreams: [{ provider: atelier }] }
prices:
  default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: m, ${price} }] }
`;
}

/** A folder with a gateway.yaml and provider files. */
async function folderWith(files: Record<string, string>) {
  const folder = await Deno.makeTempDir({ prefix: "tollgate-own-" });
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(join(folder, name, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, name), text);
  }
  return {
    folder,
    file: join(folder, "gateway.yaml"),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function compiled(file: string, source: string) {
  const { config, issues, watched } = compileConfig({
    file,
    source,
    environment: {},
    capabilities: buildCapabilities(adapters),
    now: Date.now(),
  });
  return {
    config,
    watched,
    messages: issues.map(({ line, path, message }) => `${line} ${path}: ${message}`),
  };
}

Deno.test("a provider's adapter may be a file next to gateway.yaml, for media and for chat", async () => {
  await using at = await folderWith({
    "services/atelier.yaml": SERVICE,
    "talk.yml": "name: Talk\nbase_url: https://talk.example/v1\nstream: { ask_usage: false }\n",
  });
  const image = compiled(at.file, configFile("./services/atelier.yaml"));
  assert.deepEqual(image.messages, []);
  const { adapter } = image.config!.providers.get("atelier")!;
  assert.match(adapter, /^\.\/services\/atelier\.yaml@[0-9a-f]{12}$/);
  assert.equal(adapters.get(adapter)?.media?.image?.inputs, "url");
  assert.deepEqual(image.watched, [join(at.folder, "services/atelier.yaml")]);

  const chat = compiled(at.file, configFile("talk.yml", "chat"));
  assert.deepEqual(chat.messages, []);
  assert.ok(adapters.get(chat.config!.providers.get("atelier")!.adapter)?.chat);
});

Deno.test("issues of a provider file are reported at the provider that uses it, all at once and with their lines", async () => {
  await using at = await folderWith({
    "atelier.yaml": `name: Atelier
colour: red
media:
  image:
    submit: { path: make, host: upload, body: { text: "=prompt +" } }
    id: =id
    outputs: { mime_type: ="image/png" }
`,
  });
  assert.deepEqual(
    compiled(at.file, configFile("./atelier.yaml")).messages.toSorted(),
    [
      "2 providers.atelier.adapter: ./atelier.yaml:2:1 colour: unknown key",
      "2 providers.atelier.adapter: ./atelier.yaml:4:3 media.image: must have property poll when property id is present",
      "2 providers.atelier.adapter: ./atelier.yaml:5:21 media.image.submit.path: must be a path that begins with /, " +
      'such as /v1/tasks, or an expression that begins with =; got "make"',
      '2 providers.atelier.adapter: ./atelier.yaml:5:33 media.image.submit.host: there is no host "upload"',
      "2 providers.atelier.adapter: ./atelier.yaml:5:55 media.image.submit.body.text: cannot be read: Unexpected end of expression at character 9",
      "2 providers.atelier.adapter: ./atelier.yaml:7:5 media.image.outputs: must have one of url, base64, bytes",
    ].toSorted(),
  );
});

Deno.test("a provider file that is missing, not YAML or expands without limit is an issue", async () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (let at = 0; at < 8; at++) {
    bomb.push(`b${at}: &b${at} [${Array(9).fill(`*${at ? `b${at - 1}` : "a"}`)}]`);
  }
  await using at = await folderWith({ "bad.yaml": "name: [", "bomb.yaml": bomb.join("\n") });
  const [missing] = compiled(at.file, configFile("./nowhere.yaml")).messages;
  assert.equal(missing, "2 providers.atelier.adapter: ./nowhere.yaml does not exist");
  const [bad] = compiled(at.file, configFile("./bad.yaml")).messages;
  assert.match(bad!, /^2 providers\.atelier\.adapter: \.\/bad\.yaml:1:\d+ /);
  const [burst] = compiled(at.file, configFile("./bomb.yaml")).messages;
  assert.match(burst!, /bomb\.yaml:6:10 b4\[0\]: aliases repeat more than 100,000 values$/);
});

Deno.test("the model types of a provider file are checked, and one of the files must set a URL", async () => {
  await using at = await folderWith({
    "atelier.yaml": SERVICE,
    "homeless.yaml": SERVICE.replace(/base_url.*\n/, ""),
  });
  assert.deepEqual(compiled(at.file, configFile("./atelier.yaml", "chat")).messages, [
    '4 models[0].upstreams[0].provider: the adapter "./atelier.yaml" serves image models, not chat',
  ]);
  assert.deepEqual(compiled(at.file, configFile("./homeless.yaml")).messages, [
    '2 providers.atelier.adapter: the adapter "./homeless.yaml" has no default URL',
  ]);
});

Deno.test("a changed provider file is reloaded, and earlier configurations keep their adapter", async () => {
  await using at = await folderWith({
    "gateway.yaml": configFile("./services/atelier.yaml"),
    "services/atelier.yaml": SERVICE,
  });
  const configStore = await ConfigStore.open({
    file: at.file,
    environment: {},
    capabilities: buildCapabilities(adapters),
    log: noLog,
  });
  using _watch = watchConfigFile(at.file, configStore);
  const before = configStore.current;
  const adapterOf = (config: typeof before) =>
    adapters.get(config.providers.get("atelier")!.adapter)!.media!.image!;
  const changed = new Promise<typeof before>((resolve) => configStore.onChange(resolve));
  await Deno.writeTextFile(
    join(at.folder, "services/atelier.yaml"),
    SERVICE.replace("  image:\n", "  image:\n    inputs: bytes\n"),
  );
  const after = await changed;
  assert.notEqual(after.version, before.version);
  assert.equal(adapterOf(before).inputs, "url");
  assert.equal(adapterOf(after).inputs, "bytes");
  await configStore.reload("api"); // whatever was under way has ended now
});

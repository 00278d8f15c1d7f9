/** The example of docs/operate/files-and-tasks.md: an endpoint with a request schema beside gateway.yaml. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type MediaGateway, openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";
import { statusOf } from "../helpers/status_of.ts";

const GUIDE = await Deno.readTextFile(
  new URL("../../docs/operate/files-and-tasks.md", import.meta.url),
);
const CONFIG = await Deno.readTextFile(new URL("../helpers/media_config.yaml", import.meta.url));
const PATH = "/v1/posters/generations";
const REQUEST = { model: "sketch", prompt: "a tide", size: "64x64" };

function block(language: string, firstText: string): string {
  const blocks = [...GUIDE.matchAll(new RegExp("```" + language + "\\n([\\s\\S]*?)```", "g"))];
  const found = blocks.map(([, text]) => text!).find((text) => text.startsWith(firstText));
  assert.ok(found !== undefined, `the guide has no ${language} that begins with ${firstText}`);
  return found;
}

const ROUTES = block("yaml", "# in gateway.yaml");
const SCHEMA = block("json", "{");

const openPosters = () =>
  openMediaGateway({
    config: CONFIG + ROUTES + "  - { path: /balance, operation: retrieve_balance }\n" +
      "  - { path: /audio/speech, operation: speech }\n" +
      "  - { path: /files, operation: files }\n",
    files: { "posters.schema.json": SCHEMA },
  });

async function refusal(gateway: MediaGateway, path: string, body: unknown): Promise<string> {
  const res = await gateway.post(path, body);
  const { code, param, message } = await errorOf(res);
  return `${res.status} ${code} ${param}: ${message}`;
}

Deno.test("requests must match the schema beside gateway.yaml and the one of the model type", async () => {
  await using gateway = await openPosters();
  const { id } = await gateway.submit(PATH, { ...REQUEST, n: null });
  assert.equal((await gateway.ended(id)).status, "succeeded");

  assert.equal(
    await refusal(gateway, PATH, { model: "sketch", prompt: "a tide" }),
    "400 missing_field size: The field size is missing.",
  );
  assert.equal(
    await refusal(gateway, PATH, { ...REQUEST, size: "65x64" }),
    '400 invalid_value size: size must be one of 64x64. Did you mean "64x64"?',
  );
  assert.equal(
    await refusal(gateway, PATH, { ...REQUEST, prompt: "x".repeat(81) }),
    "400 invalid_value prompt: prompt may not be longer than 80 characters.",
  );
  assert.equal(
    await refusal(gateway, PATH, { ...REQUEST, n: 2 }),
    "400 invalid_value n: n must be 1.",
  );
  // The schema of the type still holds.
  assert.equal(
    await refusal(gateway, PATH, { ...REQUEST, mood: "dark" }),
    "400 unknown_field mood: The field mood is unknown. Leave it out.",
  );
  assert.equal(
    await refusal(gateway, PATH, { ...REQUEST, prompt: 5 }),
    "400 invalid_value prompt: prompt must be a string. Put it in quotes.",
  );
  // A quote is refused as the request is, and other routes of the type have their own rules.
  assert.equal(
    await refusal(gateway, "/v1/quotes", { path: PATH, body: { ...REQUEST, n: 2 } }),
    "400 invalid_value n: n must be 1.",
  );
  await gateway.submit("/v1/images/generations", { ...REQUEST, n: 1, prompt: "x".repeat(81) });
  await gateway.verify();
});

Deno.test("/openapi.json shows both schemas as one", async () => {
  await using gateway = await openPosters();
  const document = await (await gateway.fetch("/openapi.json")).json();
  const result = await new Validator().validate(structuredClone(document));
  assert.equal(result.valid, true, JSON.stringify(result.errors));
  const { $ref } = document.paths[PATH].post.requestBody.content["application/json"].schema;
  assert.equal($ref, "#/components/schemas/PostersGenerationsRequest");
  const { required, properties } = document.components.schemas.PostersGenerationsRequest;
  assert.deepEqual(required, ["model", "prompt", "size"]);
  assert.deepEqual([properties.size.enum, properties.size.description], [
    ["64x64"],
    "The poster's size.",
  ]);
  assert.equal(properties.prompt.maxLength, 80);
  assert.ok("callback_url" in properties, "what the file does not mention is as in the type");
  const other = document.paths["/v1/images/generations"].post.requestBody;
  assert.equal(other.content["application/json"].schema.$ref, "#/components/schemas/ImageRequest");
});

Deno.test("a changed schema holds from then on, and a broken one changes nothing", async () => {
  await using gateway = await openPosters();
  const file = join(dirname(gateway.configFile), "posters.schema.json");
  await Deno.writeTextFile(file, SCHEMA.replace('"const": 1', '"const": 2'));
  const changed = await gateway.admin("POST", "/config/reload");
  assert.equal(changed.status, 200, await changed.text());
  assert.match(await refusal(gateway, PATH, { ...REQUEST, n: 1 }), /n must be 2\.$/);

  await Deno.writeTextFile(file, SCHEMA.replace('"const"', '"cosnt"'));
  const broken = await gateway.admin("POST", "/config/reload");
  assert.equal(broken.status, 400);
  assert.match(
    await broken.text(),
    /\.\/posters\.schema\.json:7:12 properties\.n\.cosnt: is not a keyword of JSON Schema/,
  );
  assert.match(await refusal(gateway, PATH, { ...REQUEST, n: 1 }), /n must be 2\.$/);
});

Deno.test("a task ends under the configuration it was accepted under, though its schema is gone", async () => {
  await using gateway = await openPosters();
  const { id } = await gateway.submit(PATH, {
    ...REQUEST,
    prompt: "[[simulate: seconds=2]] a tide",
  });
  await Deno.writeTextFile(gateway.configFile, CONFIG);
  await Deno.remove(join(dirname(gateway.configFile), "posters.schema.json"));
  const reload = await gateway.admin("POST", "/config/reload");
  assert.equal(reload.status, 200, await reload.text());
  assert.equal(await statusOf(gateway.post(PATH, REQUEST)), 404);
  assert.equal((await gateway.ended(id)).status, "succeeded");
  assert.doesNotMatch(gateway.logged(), /config version of a task not usable/);
  const [row] = await gateway.gateway.database.sql`
    select files from config_version where files::text like '%posters%'`;
  assert.deepEqual(Object.keys(row!.files), ["./posters.schema.json"]);
});

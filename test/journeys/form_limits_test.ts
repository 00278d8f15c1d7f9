import assert from "node:assert/strict";
import accounts from "../../schemas/requests/admin_accounts.schema.json" with { type: "json" };
import credits from "../../schemas/requests/admin_credits.schema.json" with { type: "json" };
import keys from "../../schemas/requests/admin_keys.schema.json" with { type: "json" };
import speech from "../../schemas/requests/audio_speech.schema.json" with { type: "json" };
import dramas from "../../schemas/requests/dramas_generations.schema.json" with { type: "json" };
import endpoints from "../../schemas/requests/webhook_endpoints.schema.json" with { type: "json" };
import { openConsole } from "../helpers/console_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** The tag of an input. */
function inputOf(page: string, name: string): string {
  const tag = new RegExp(`<input[^>]* name="${name}"[^>]*>`).exec(page)?.[0];
  assert.ok(tag !== undefined, `${name} in ${page}`);
  return tag;
}

Deno.test(
  "a limit that is changed in a request's schema changes the forms that send it",
  STRICT,
  async () => {
    // Before any form is read: checks are compiled once.
    accounts.properties.name.maxLength = 17;
    keys.properties.name.maxLength = 18;
    endpoints.properties.description.maxLength = 19;
    credits.properties.reference.maxLength = 20;
    dramas.properties.title.maxLength = 21;
    speech.properties.speed.maximum = 2;
    await using gateway = await openConsole();
    const { person } = gateway;
    await person.makeOperator();
    const operator = "/console/operator/accounts";
    const account = `${operator}/${person.account}`;
    const credit = { kind: "cash", amount: "10" };
    const url = "https://example.com/hook";
    for (
      const [page, form, name, max, others] of [
        ["/account", "/account/name", "name", 17, {}],
        ["/console/keys", "/console/keys", "name", 18, {}],
        ["/console/webhooks", "/console/webhooks", "description", 19, { url }],
        [operator, operator, "name", 17, { plan: "free" }],
        [account, `${account}/credits`, "reference", 20, credit],
      ] as const
    ) {
      assert.match(inputOf(await person.read(page), name), new RegExp(`maxlength="${max}"`), page);
      const res = await person.post(form, { ...others, [name]: "x".repeat(max + 1) });
      const text = await res.text();
      assert.ok([400, 422].includes(res.status), `${form}: ${res.status}`);
      assert.ok(text.includes(`may not be longer than ${max} characters.`), text);
    }
    const drama = await person.read("/console/models/sim-drama");
    assert.match(inputOf(drama, "title"), /maxlength="21"/);
    assert.match(inputOf(await person.read("/console/models/sim-speech"), "speed"), /max="2"/);
  },
);

Deno.test("a form that is sent without a field says that it is required", STRICT, async () => {
  await using gateway = await openConsole();
  for (const [form, label] of [["/account/name", "Name"], ["/console/keys", "Name"]] as const) {
    const res = await gateway.person.post(form, { name: " " });
    assert.ok((await res.text()).includes(`${label} is required.`), form);
    assert.ok([400, 422].includes(res.status), form);
  }
});

Deno.test(
  "failed deliveries of a disabled endpoint are not sent again, here as in the API",
  STRICT,
  async () => {
    await using gateway = await openConsole();
    const { person } = gateway;
    const created = await person.post("/console/webhooks", { url: "https://example.com/hook" });
    await created.body?.cancel();
    const path = created.headers.get("location")!.replace(/\/secret$/, "");
    const disabled = await person.post(`${path}/disable`, {});
    await disabled.body?.cancel();
    const res = await person.post(`${path}/redeliver`, {});
    assert.equal(res.status, 400);
    assert.ok((await res.text()).includes("This webhook endpoint is disabled. Enable it first."));
  },
);

import assert from "node:assert/strict";
import { compileText, SHIPPED } from "../../../test/helpers/valid_config.ts";
import { GUIDES, readGuide } from "./guides.ts";
import { stateValues } from "./stated_values.ts";

const shipped = compileText(SHIPPED).config!;

Deno.test("the values between the markers of the guides are those of the shipped configuration", async () => {
  let count = 0;
  for (const guide of GUIDES) {
    const text = await readGuide(guide);
    count += text.match(/<!-- value: /g)?.length ?? 0;
    assert.equal(
      stateValues(text, shipped),
      text.replace(/<!-- value: \S+ -->([^]*?)<!-- end -->/g, "$1"),
    );
  }
  assert.notEqual(count, 0);
});

Deno.test("a guide states the values of the gateway that serves it", () => {
  const webhooks = { timeoutSeconds: 7, retrySeconds: [0, 60, 7200], disableAfterDays: 1 };
  const config = { ...shipped, webhooks };
  const stated = (name: string) =>
    stateValues(`for <!-- value: ${name} -->15 seconds<!-- end -->.`, config);
  assert.equal(stated("webhooks.timeout_seconds"), "for 7 seconds.");
  assert.equal(stated("webhooks.retry_seconds"), "for 1 min and 2 h.");
  assert.equal(stated("webhooks.disable_after_days"), "for 1 day.");
  assert.throws(() => stated("webhooks.nothing"), /unknown value webhooks.nothing/);
});

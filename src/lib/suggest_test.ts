import assert from "node:assert/strict";
import { didYouMean, nearest } from "./suggest.ts";

const KEYS = ["requests_per_minute", "running_tasks", "timeout_seconds", "base_url", "chat", "id"];

Deno.test("a near miss is found through letters swapped, left out, doubled or of another case", () => {
  assert.equal(nearest("caht", KEYS), "chat");
  assert.equal(nearest("runing_tasks", KEYS), "running_tasks");
  assert.equal(nearest("requests_per_minutes", KEYS), "requests_per_minute");
  assert.equal(nearest("Base_URL", KEYS), "base_url");
});

Deno.test("a whole word of one name is enough, unless several have it", () => {
  assert.equal(nearest("timeout", KEYS), "timeout_seconds");
  assert.equal(nearest("url", KEYS), "base_url");
  assert.equal(nearest("sim", ["sim-chat", "sim-image"]), undefined);
  assert.equal(nearest("time", KEYS), undefined);
});

Deno.test("what is far from everything, too short or endless suggests nothing", () => {
  assert.equal(nearest("webhooks", KEYS), undefined);
  assert.equal(nearest("ie", KEYS), undefined);
  assert.equal(nearest("", KEYS), undefined);
  assert.equal(nearest("c".repeat(100_000), KEYS), undefined);
  assert.equal(nearest("anything", []), undefined);
});

Deno.test("of two near names the nearer one is suggested", () => {
  assert.equal(nearest("modell-1", ["modal-1", "model-1", "model-10"]), "model-1");
  assert.equal(didYouMean("modle-1", ["model-1"]), 'Did you mean "model-1"?');
  assert.equal(didYouMean("zebra", ["model-1"]), undefined);
});

import assert from "node:assert/strict";
import type { PriceTerms } from "../../model_types/price_terms.ts";
import type { Upstream } from "../../platform/config/config.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { conversationPin } from "./conversation_pin.ts";

const upstream = (provider: string, cost: Upstream["cost"] = null): Upstream => ({
  provider,
  model: "m",
  priority: 0,
  weight: 1,
  timeoutSeconds: 1,
  cost,
});
const TWO = { upstreams: [upstream("a"), upstream("b")] };
const CACHED: PriceTerms = { input_price: "2", cached_input_price: "1" };

const system = { role: "system", content: "You are an agent. ".repeat(1000) };
const user = (content: unknown) => ({ role: "user", content });
const requestOf = (messages: ChatRequest["messages"], more = {}): ChatRequest => ({
  model: "m",
  messages,
  ...more,
});
const pinOf = (...messages: ChatRequest["messages"]) =>
  conversationPin(TWO, CACHED, requestOf(messages));

Deno.test("the turns of a conversation have one pin, and conversations differ by what the user says first", () => {
  const first = pinOf(system, user("Fix the tests."));
  const later = pinOf(
    system,
    user("Fix the tests."),
    { role: "assistant", content: "Done." },
    user("Thanks."),
  );
  assert.equal(typeof first, "number");
  assert.equal(later, first);
  assert.notEqual(pinOf(system, user("Fix the docs.")), first);
  assert.notEqual(pinOf(user("Fix the tests.")), first);
});

Deno.test("long messages in parts differ by their ends, where agents put what the user says", () => {
  const preamble = { type: "text", text: "<context>".repeat(500) };
  const said = (text: string) => pinOf(user([preamble, { type: "text", text }]));
  assert.equal(said("Fix the tests."), said("Fix the tests."));
  assert.notEqual(said("Fix the tests."), said("Fix the docs."));
  const long = (end: string) => pinOf(user("x".repeat(5000) + end));
  assert.notEqual(long("tests"), long("docs."));
});

Deno.test("prompt_cache_key pins whatever the messages, also without a price for caches", () => {
  const keyed = (key: string, text: string, terms: PriceTerms = {}) =>
    conversationPin(TWO, terms, requestOf([user(text)], { prompt_cache_key: key }));
  assert.equal(keyed("k", "one"), keyed("k", "two"));
  assert.equal(keyed("k", "one"), keyed("k", "one", CACHED));
  assert.notEqual(keyed("k", "one"), keyed("other", "one"));
});

Deno.test("nothing is pinned where there is one upstream, or no price for caches", () => {
  const request = requestOf([user("Hello")]);
  const one = { upstreams: [upstream("a")] };
  assert.equal(conversationPin(one, CACHED, { ...request, prompt_cache_key: "k" }), null);
  assert.equal(conversationPin(TWO, { input_price: "2" }, request), null);
  const cost = { unit: "1M tokens", input_price: "2", cache_write_price: "3" };
  const known = { upstreams: [upstream("a"), upstream("b", cost)] };
  assert.notEqual(conversationPin(known, {}, request), null);
});

Deno.test("of a key of any length a little is looked at, from both ends", () => {
  const pinOf = (key: string) =>
    conversationPin(TWO, CACHED, requestOf([user("Hello")], { prompt_cache_key: key }));
  const middle = "a".repeat(1_000);
  const long = pinOf(`begin${middle}end`);
  assert.equal(pinOf(`begin${middle.replaceAll("a", "b")}end`) === long, false, "near the ends");
  assert.equal(pinOf(`begin${"a".repeat(499)}bb${"a".repeat(499)}end`), long);
  assert.notEqual(pinOf(`begin${middle}END`), long);
});

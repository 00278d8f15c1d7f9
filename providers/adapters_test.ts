import assert from "node:assert/strict";
import { Adapters } from "./adapters.ts";

const source = (name: string) => `name: ${name}\nbase_url: https://${name}.example/v1\n`;

Deno.test("the last eight versions of a file are kept, and those of other files too", () => {
  const adapters = new Adapters();
  adapters.open("./other.yaml@1", source("other"));
  for (let version = 0; version < 10; version++) {
    adapters.open(`./own.yaml@${version}`, source(`own${version}`));
  }
  const kept = Array.from({ length: 10 }, (_, version) => adapters.get(`./own.yaml@${version}`));
  assert.deepEqual(kept.map((adapter) => adapter !== undefined), [
    false,
    false,
    ...Array(8).fill(true),
  ]);
  assert.ok(adapters.get("./other.yaml@1"));
});

Deno.test("a version that is opened again is the same adapter, and the newest", () => {
  const adapters = new Adapters();
  adapters.open("./own.yaml@a", source("own"));
  const first = adapters.get("./own.yaml@a");
  for (let version = 0; version < 7; version++) {
    adapters.open(`./own.yaml@${version}`, source(`own${version}`));
  }
  adapters.open("./own.yaml@a", source("own"));
  adapters.open("./own.yaml@7", source("own7"));
  assert.equal(adapters.get("./own.yaml@a"), first);
  assert.equal(adapters.get("./own.yaml@0"), undefined);
});

Deno.test("each set of adapters has a simulator of its own", () => {
  const [one, other] = [new Adapters(), new Adapters()];
  assert.notEqual(one.get("simulator")!.transport, other.get("simulator")!.transport);
});

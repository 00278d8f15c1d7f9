import assert from "node:assert/strict";
import { openGateway, type TestGateway } from "../helpers/open_gateway.ts";

const status = async (node: TestGateway, key: string) => {
  const res = await node.get("/v1/models/tiny-chat", { authorization: `Bearer ${key}` });
  await res.body?.cancel();
  return res.status;
};

Deno.test("a key revoked on one node fails on the very next request on every node", async () => {
  await using first = await openGateway();
  await using second = await openGateway({ beside: first });
  await using third = await openGateway({ beside: first });
  for (let round = 0; round < 20; round++) {
    const { key, keyId } = await first.newKey();
    for (const node of [first, second, third]) assert.equal(await status(node, key), 200);
    const revoked = await second.admin("DELETE", `/keys/${keyId}`);
    assert.equal(revoked.status, 200);
    await revoked.body?.cancel();
    for (const node of [first, second, third]) {
      assert.equal(await status(node, key), 401, `round ${round}`);
    }
  }
});

Deno.test("a revocation under load leaves no node that still remembers the key", async () => {
  await using first = await openGateway();
  await using second = await openGateway({ beside: first });
  for (let round = 0; round < 5; round++) {
    const { key, keyId } = await first.newKey();
    let revoked = false;
    let acceptedAfter = 0;
    const load = Promise.all(
      [first, second].flatMap((node) =>
        Array.from({ length: 4 }, async () => {
          for (let i = 0; i < 60; i++) {
            const wasRevoked = revoked;
            if (await status(node, key) === 200 && wasRevoked) acceptedAfter++;
          }
        })
      ),
    );
    await (await first.admin("DELETE", `/keys/${keyId}`)).body?.cancel();
    revoked = true;
    await load;
    assert.equal(acceptedAfter, 0);
  }
});

import assert from "node:assert/strict";
import { openFileGateway } from "../helpers/file_gateway.ts";
import { png } from "../helpers/media.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: true, sanitizeResources: true });

test("files past their time and uploads that were never finished are cleaned up, once, by any node", async () => {
  await using gateway = await openFileGateway();
  await using other = await openFileGateway({ beside: gateway });
  const { sql } = gateway.gateway.database;
  const old = await gateway.upload(png());
  const young = await gateway.upload(png());
  // A process that died: a row that never became ready, and bytes beside their place.
  const dead = old.id.slice(0, -4) + "dead";
  await sql`insert into file (id, account_id, origin, store, filename, mime_type, kind, expires_at)
            values (${dead}, ${gateway.account}, 'upload', 'local', 'x', 'image/png', 'image', now())`;
  await Deno.mkdir(`${gateway.store.dataDir}/files/ad`, { recursive: true });
  await Deno.writeFile(`${gateway.store.dataDir}/files/ad/${dead}.part`, new Uint8Array(9));
  await sql`update file set expires_at = now() where id = ${old.id}`;
  const gone = await gateway.get(`/v1/files/${old.id}`);
  assert.deepEqual([gone.status, (await errorOf(gone)).code], [404, "file_not_found"]);
  const cleaned = await Promise.all([gateway.gateway.files.clean(), other.gateway.files.clean()]);
  assert.equal(cleaned[0]! + cleaned[1]!, 2);
  const left = await gateway.stored();
  assert.equal(left.length, 1);
  assert.ok(left[0]!.endsWith(young.id));
  assert.equal(await gateway.rows(), 1);
});

test("addresses hold on every node through a change of secret", async () => {
  await using gateway = await openFileGateway({ storage: "" });
  await using other = await openFileGateway({ beside: gateway });
  const { id } = await gateway.upload(png());
  const on = (address: string, url: string) => {
    const { pathname, search } = new URL(url);
    return fetch(address + pathname + search);
  };
  const status = async (address: string, url: string) => {
    const res = await on(address, url);
    await res.body?.cancel();
    return res.status;
  };
  const before = gateway.gateway.files.signedUrl(id, Date.now()).url;
  assert.equal(await status(other.address, before), 200);
  await gateway.gateway.database.sql`insert into content_secret default values`;
  await gateway.gateway.files.refreshSecrets();
  const after = gateway.gateway.files.signedUrl(id, Date.now()).url;
  assert.notEqual(
    after.split("signature=")[1]!.split("-")[0],
    before.split("signature=")[1]!.split("-")[0],
  );
  assert.equal(
    await status(other.address, after),
    200,
    "a node learns the new secret when it is used",
  );
  assert.equal(await status(gateway.address, before), 200, "what the old one signed still works");
  // A week on, nothing that the old one signed can still work.
  await gateway.gateway.database.sql`
    update content_secret set created_at = created_at - interval '8 days'`;
  await gateway.gateway.files.refreshSecrets();
  const secrets = await gateway.gateway.database.sql`select from content_secret`;
  assert.equal(secrets.length, 1);
  assert.equal(await status(gateway.address, after), 200);
});

import assert from "node:assert/strict";
import { join } from "node:path";
import { enqueueEvent } from "../helpers/enqueue_event.ts";
import { until } from "../helpers/chat_gateway.ts";
import { ADMIN_TOKEN, openGateway } from "../helpers/open_gateway.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { runCli } from "../helpers/run_cli.ts";

const cli = (args: string[], env: Record<string, string> = {}) => runCli(["webhook", ...args], env);

Deno.test("gateway webhook redeliver sends failed deliveries again, and verify checks an event", async () => {
  await using receiver = startReceiver();
  const config = await Deno.readTextFile(
    new URL("../helpers/config.yaml", import.meta.url),
  );
  await using gateway = await openGateway({
    config: `${config}
webhooks: { retry_seconds: [0], timeout_seconds: 5 }
outbound: { allow_private: true }
`,
  });
  const env = { GATEWAY_URL: gateway.address, ADMIN_TOKEN };
  receiver.answer = (nth) => new Response(null, { status: nth === 0 ? 500 : 200 });
  const { sql } = gateway.gateway.database;
  const [made] = await enqueueEvent(sql, {
    account: gateway.account,
    taskId: "task_1",
    type: "task.succeeded",
    callbackUrl: receiver.url,
    data: { task_id: "task_1", status: "succeeded", output: [] },
  });
  const state = async () =>
    (await sql<{ state: string }[]>`select state from webhook_delivery`)[0]!.state;
  await until("it failed", async () => await state() === "failed", 30);

  const all = await cli(["redeliver", "--since", "2026-01-01T00:00:00Z", "--json"], env);
  assert.equal(all.code, 0, all.err);
  assert.equal(JSON.parse(all.out).count, 1);
  await until("it was delivered", async () => await state() === "delivered", 30);
  const one = await cli(["redeliver", made!.id], env);
  assert.match(one.out, /Redelivery queued: event \S+ to http/);
  await until("it came once more", () => receiver.received.length === 3, 30);
  assert.equal((await cli(["redeliver", "dlv_0"], env)).code, 1);
  assert.equal((await cli(["redeliver"], env)).code, 2);

  const { secret } = await (await gateway.get("/v1/webhook_endpoints/default/secret")).json();
  const { headers, body } = receiver.received[0]!;
  const folder = await Deno.makeTempDir();
  const file = join(folder, "request.http");
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join("\r\n");
  await Deno.writeTextFile(file, `POST / HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  const at = headers["webhook-timestamp"]!;
  const good = await cli(["verify", file, "--secret", secret, "--at", at]);
  assert.deepEqual(
    [good.code, /signature is right/.test(good.out)],
    [0, true],
    good.out + good.err,
  );
  await Deno.writeTextFile(file, `${head}\n\n${body}\n`);
  const bad = await cli(["verify", file, "--at", at, "--json"], { WEBHOOK_SECRET: secret });
  assert.deepEqual([bad.code, JSON.parse(bad.out).fault], [1, "body_changed"]);
  await Deno.writeTextFile(file, JSON.stringify({ headers, body }));
  const old = await cli(["verify", file, "--at", String(Number(at) + 999), "--json"], {
    WEBHOOK_SECRET: secret,
  });
  assert.equal(JSON.parse(old.out).fault, "timestamp_too_old");
  assert.equal((await cli(["verify", file])).code, 2, "no secret");
  await Deno.remove(folder, { recursive: true });
});

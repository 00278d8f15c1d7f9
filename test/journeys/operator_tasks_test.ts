import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { run } from "../../src/cli/main.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { ADMIN_TOKEN, errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "operators find a stuck task, see who has it and what went wrong, and wake it",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    const { sql } = gateway.gateway.database;
    const good = await gateway.submit("/v1/images/generations", {
      model: "image-model",
      prompt: "x",
    });
    await gateway.ended(good.id);
    const stuck = await gateway.submit("/v1/videos/generations", {
      model: "video-model",
      prompt: "[[simulate: seconds=1]] x",
    });
    // As eight broken steps would leave it.
    for (let claimed = false; !claimed;) {
      const { count } = await sql`
      update task set dead_at = now(), failures = 8, last_failure = 'a bug', fence = fence + 1,
                      lease_until = null, wake_at = now() + interval '1 hour'
       where id = ${stuck.id} and phase = 'accepted' and completed_at is null`;
      claimed = count === 1;
    }
    const list = async (query: string) =>
      await (await gateway.admin("GET", `/tasks${query}`)).json();
    const dead = await list("?problem=dead");
    assert.equal(dead.data.length, 1);
    const [task] = dead.data;
    assert.equal(task.id, stuck.id);
    assert.equal(task.account, gateway.account);
    assert.equal(task.provider, "canary-provider");
    assert.equal(task.last_failure, "a bug");
    assert.equal((await list("?status=succeeded&type=image")).data[0].id, good.id);
    assert.equal((await list(`?account=${gateway.account}&limit=1`)).has_more, true);
    assert.deepEqual((await list("?problem=late")).data, []);
    const metrics = await (await gateway.fetch("/metrics", {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })).text();
    assert.match(metrics, /tollgate_tasks\{state="dead"\} 1/);
    assert.match(metrics, /tollgate_tasks_ended_total\{status="succeeded"\} 1/);
    assert.match(metrics, /tollgate_queue_step_seconds_count\{kind="task"/);

    const replay = await gateway.admin("POST", `/tasks/${stuck.id}/replay`);
    assert.equal(replay.status, 202);
    assert.equal((await replay.json()).dead_at, null);
    assert.equal((await gateway.ended(stuck.id)).status, "succeeded");
    const over = await gateway.admin("POST", `/tasks/${stuck.id}/replay`);
    assert.equal(over.status, 400);
    assert.equal((await errorOf(over)).code, "invalid_value");
    for (
      const [method, path] of [["GET", "/tasks/task_none"], ["POST", "/tasks/task_none/replay"]]
    ) {
      const none = await gateway.admin(method!, path!);
      assert.equal(none.status, 404);
      assert.equal((await errorOf(none)).code, "task_not_found");
    }
    await gateway.verify();
  },
);

Deno.test("task list, show and replay on the command line", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const { id } = await gateway.submit("/v1/images/generations", {
    model: "image-model",
    prompt: "x",
  });
  await gateway.ended(id);
  const printed: string[] = [];
  const cli = async (...args: string[]) => {
    const { log, error } = console;
    console.log = (text: unknown) => void printed.push(String(text));
    console.error = (text: unknown) => void printed.push(String(text));
    try {
      return await run(["task", ...args], {
        GATEWAY_URL: gateway.address,
        ADMIN_TOKEN,
      });
    } finally {
      console.log = log;
      console.error = error;
    }
  };
  assert.equal(await cli("list"), 0);
  assert.match(printed.at(-1)!, new RegExp(`${id} +image +image-model +succeeded 100 %`));
  assert.equal(await cli("list", "--problem", "dead"), 0);
  assert.equal(printed.at(-1), "No tasks.");
  assert.equal(await cli("show", id, "--json"), 0);
  assert.equal(JSON.parse(printed.at(-1)!).id, id);
  assert.equal(await cli("replay", id), 1, "over is over");
  assert.match(printed.at(-1)!, /that is final/);
});

Deno.test("tasks look as /openapi.json promises", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const document = await (await gateway.fetch("/openapi.json")).json();
  const ajv = new Ajv2020.default({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "doc", ...document });
  const follows = (body: unknown, name: string) => {
    const check = ajv.getSchema(`doc#/components/schemas/${name}`)!;
    assert.ok(check(body), `${name}: ${JSON.stringify(check.errors)} in ${JSON.stringify(body)}`);
  };
  const task = await gateway.submit("/v1/images/generations", {
    model: "image-model",
    prompt: "x",
  });
  follows(task, "Task");
  follows(await gateway.ended(task.id), "Task");
  follows(await (await gateway.get("/v1/tasks")).json(), "TaskList");
  follows(await (await gateway.admin("GET", "/tasks")).json(), "OperatorTaskList");
  const paths = document.paths;
  assert.ok(paths["/v1/tasks/{task_id}/cancel"].post);
  assert.equal(
    paths["/v1/videos/generations"].post.requestBody.content["application/json"].schema.$ref,
    "#/components/schemas/VideoRequest",
  );
});

Deno.test(
  "operators see a drama as one task, its parts by its id, and a stuck part with its drama",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({
      config: await Deno.readTextFile(
        new URL("../helpers/drama_config.yaml", import.meta.url),
      ),
    });
    const drama = await gateway.submit("/v1/dramas/generations", {
      model: "play",
      title: "Tides",
      script: "Mara waits at the sea for Jon.",
      characters: [{ name: "Mara" }],
      stage: "script",
      business_id: "b1",
    });
    await gateway.ended(drama.id);
    const list = async (query: string) =>
      (await (await gateway.admin("GET", `/tasks${query}`)).json()).data;
    const [only, ...others] = await list("");
    assert.deepEqual([only.id, only.parent, only.subtask, others.length], [
      drama.id,
      null,
      null,
      0,
    ]);
    const [part, ...more] = await list(`?parent=${drama.id}`);
    assert.deepEqual([part.parent, part.subtask, more.length], [drama.id, "script", 0]);
    const { sql } = gateway.gateway.database;
    await sql`
      update task set status = 'running', completed_at = null, wake_at = now() + interval '1 hour',
                      dead_at = now()
       where id = ${part.id}`;
    const [dead] = await list("?problem=dead");
    assert.deepEqual([dead.id, dead.parent], [part.id, drama.id]);
    const printed: string[] = [];
    const { log } = console;
    console.log = (text: unknown) => void printed.push(String(text));
    try {
      const environment = { GATEWAY_URL: gateway.address, ADMIN_TOKEN };
      assert.equal(await run(["task", "list", "--problem", "dead"], environment), 0);
    } finally {
      console.log = log;
    }
    assert.match(printed.join(), new RegExp(`${part.id} .*script of ${drama.id} +dead`));
  },
);

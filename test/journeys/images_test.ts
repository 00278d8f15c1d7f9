import assert from "node:assert/strict";
import { png, wav } from "../helpers/media.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "POST /v1/images/generations answers 202 with a task that ends with an image at our own address, paid for",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const res = await gateway.post("/v1/images/generations", {
      model: "image-model",
      prompt: "a tide",
      n: 2,
      size: "128x64",
    }, { "x-client-request-id": "mine-1" });
    assert.equal(res.status, 202);
    const task = await res.json();
    assert.match(task.id, /^task_[0-9a-z]{26}$/);
    assert.equal(res.headers.get("location"), `/v1/tasks/${task.id}`);
    assert.equal(task.object, "generation.task");
    assert.equal(task.status, "queued");
    assert.equal(task.request_id, res.headers.get("x-request-id"));
    assert.equal(task.client_request_id, "mine-1");
    assert.deepEqual(task.output, []);
    assert.equal(task.charge.held, "0.08");
    assert.equal(task.charge.status, "open");

    const done = await gateway.ended(task.id);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    assert.equal(done.progress, 100);
    assert.equal(done.error, null);
    assert.deepEqual(done.usage, { total_units: 2 });
    assert.equal(done.charge.settled, "0.08");
    assert.equal(done.output.length, 2);
    for (const output of done.output) {
      assert.equal(output.type, "image");
      assert.equal(output.mime_type, "image/png");
      assert.deepEqual([output.width, output.height], [128, 64]);
      assert.ok(output.url.startsWith(`${gateway.address}/content/`), output.url);
      const content = await fetch(output.url);
      assert.equal(content.status, 200);
      assert.equal((await content.bytes()).length, output.bytes);
    }
    assert.deepEqual(await gateway.balance(), { available: "0.92", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "k of n images: those that came are paid for, and a file that is no image is left out",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const fewer = await gateway.submit("/v1/images/generations", {
      model: "image-model",
      prompt: "[[simulate: outputs=2]] a tide",
      n: 3,
    });
    assert.equal(fewer.charge.held, "0.12");
    const done = await gateway.ended(fewer.id);
    assert.equal(done.status, "succeeded");
    assert.equal(done.output.length, 2);
    assert.equal(done.charge.settled, "0.08");
    const more = await gateway.submit("/v1/images/generations", {
      model: "image-model",
      prompt: "[[simulate: duplicate]] a tide",
      n: 2,
    });
    assert.equal((await gateway.ended(more.id)).output.length, 2, "no more than was asked for");
    for (const fault of ["garbage", "empty", "wrong_type", "missing", "redirect", "outputs=0"]) {
      const order = fault.includes("=") ? fault : `output=${fault}`;
      const task = await gateway.submit("/v1/images/generations", {
        model: "image-model",
        prompt: `[[simulate: ${order}]] a tide`,
      });
      const failed = await gateway.ended(task.id);
      assert.equal(failed.status, "failed", fault);
      assert.equal(failed.error.code, "upstream_failed");
      assert.equal(failed.charge.settled, "0.00");
      assert.deepEqual(failed.output, []);
    }
    assert.deepEqual(await gateway.balance(), { available: "0.84", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test(
  "input images: the account's own files, and addresses that may be fetched",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    await using imageServer = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) =>
        new URL(request.url).pathname === "/a.png"
          ? new Response(png(8, 8), { headers: { "content-type": "image/png" } })
          : new Response("no", { status: 404 }),
    );
    const address = `http://127.0.0.1:${imageServer.addr.port}`;
    const file = await gateway.upload("me.png", png(16, 16));
    const ask = (input_images: string[]) =>
      gateway.submit("/v1/images/generations", { model: "image-model", prompt: "x", input_images });
    const good = await ask([file, `${address}/a.png`]);
    assert.equal((await gateway.ended(good.id)).status, "succeeded");
    const gone = await gateway.ended((await ask([`${address}/none.png`])).id);
    assert.equal(gone.status, "failed");
    assert.equal(gone.error.code, "invalid_value");
    // No server listens there. A refused connection could be taken for the database being away.
    const dead = await gateway.ended((await ask(["http://127.0.0.1:1/a.png"])).id);
    assert.equal(dead.status, "failed");
    assert.match(dead.error.message, /^An input image cannot be fetched/);
    assert.equal((await gateway.balance()).frozen, "0.00");
    const audio = await gateway.upload("me.wav", wav(1));
    const other = await gateway.newKey();
    for (
      const [images, model, code, param] of [
        [[file], "sketch", "capability_not_supported", "input_images"],
        [[file, file, file], "image-model", "invalid_value", "input_images"],
        [["file_nothing"], "image-model", "file_not_found", "input_images.0"],
        [[file, audio], "image-model", "invalid_value", "input_images.1"],
        [["ftp://x.example/a.png"], "image-model", "unsafe_url", "input_images.0"],
        [[], "image-model", "invalid_value", "input_images"],
      ] as const
    ) {
      const body = { model, prompt: "x", input_images: images };
      const res = await gateway.post("/v1/images/generations", body);
      assert.equal(res.status, 400, JSON.stringify(images));
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], [code, param], JSON.stringify(images));
    }
    const theirs = await gateway.post(
      "/v1/images/generations",
      { model: "image-model", prompt: "x", input_images: [file] },
      { authorization: `Bearer ${other.key}` },
    );
    assert.equal((await errorOf(theirs)).code, "file_not_found", "another account's file is none");
    await gateway.verify();
  },
);

Deno.test(
  "400, 401, 402, 404, 405, 413, 415 and 429 of /v1/images/generations, and nothing is stored",
  STRICT,
  async () => {
    const config = (await Deno.readTextFile(
      new URL("../helpers/media_config.yaml", import.meta.url),
    )).replace("running_tasks: 200", "running_tasks: 1").replace(
      "outbound: { allow_private: true }",
      "",
    ).replace("limits:\n", "limits:\n  body_bytes_max: 4096\n");
    await using gateway = await openMediaGateway({ config, cash: "0.10" });
    const good = { model: "image-model", prompt: "a tide" };
    const refused = async (
      body: unknown,
      [status, code, param]: [status: number, code: string, param: string | null],
      headers: Record<string, string> = {},
    ) => {
      const res = await gateway.post("/v1/images/generations", body, headers);
      assert.equal(res.status, status, JSON.stringify(body));
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], [code, param], JSON.stringify(body));
      return res;
    };
    await refused("{", [400, "invalid_json", null]);
    await refused("[]", [400, "invalid_value", null]);
    await refused({ prompt: "x" }, [400, "missing_field", "model"]);
    await refused({ model: "image-model" }, [400, "missing_field", "prompt"]);
    await refused({ ...good, prompt: "" }, [400, "invalid_value", "prompt"]);
    await refused({ ...good, prompt: "x".repeat(201) }, [400, "prompt_too_long", "prompt"]);
    await refused({ ...good, size: "65x64" }, [400, "invalid_value", "size"]);
    await refused({ ...good, n: 5 }, [400, "invalid_value", "n"]);
    await refused({ ...good, n: 0 }, [400, "invalid_value", "n"]);
    await refused({ ...good, n: 1.5 }, [400, "invalid_value", "n"]);
    await refused({ ...good, n: "2" }, [400, "invalid_value", "n"]);
    await refused({ ...good, quality: "hd" }, [400, "invalid_value", "quality"]);
    await refused({ ...good, qualities: "hd" }, [400, "unknown_field", "qualities"]);
    await refused(
      { ...good, callback_url: "http://127.0.0.1/x" },
      [400, "unsafe_url", "callback_url"],
    );
    await refused(
      { ...good, callback_url: "https://10.0.0.1/" },
      [400, "unsafe_url", "callback_url"],
    );
    await refused(
      { ...good, input_images: ["https://localhost/a.png"] },
      [400, "unsafe_url", "input_images.0"],
    );
    await refused({ ...good, model: "video-model" }, [400, "capability_not_supported", "model"]);
    await refused(good, [400, "invalid_value", "Idempotency-Key"], { "idempotency-key": "a b" });
    await refused(good, [401, "invalid_api_key", null], { authorization: "Bearer sk-unknown" });
    await refused({ ...good, n: 4 }, [402, "insufficient_balance", null], {
      "idempotency-key": "k",
    });
    await refused({ ...good, model: "nothing" }, [404, "model_unavailable", "model"]);
    await refused({ ...good, model: "off-image" }, [404, "model_unavailable", "model"]);
    await refused({ ...good, prompt: "x".repeat(5000) }, [413, "payload_too_large", null]);
    await refused(good, [415, "unsupported_media_type", null], { "content-type": "text/plain" });
    const misused = await gateway.get("/v1/images/generations");
    assert.equal(misused.status, 405);
    await misused.body?.cancel();
    assert.equal(await gateway.count("task"), 0);
    assert.equal(await gateway.count("hold"), 0);
    assert.equal(await gateway.count("receipt"), 0);
    assert.equal(await gateway.count("idempotency"), 0);

    // A letter outside the basic plane is one character, though two units of UTF-16.
    const waiting = await gateway.submit("/v1/images/generations", {
      ...good,
      prompt: "[[simulate: seconds=60]]" + "𝄞".repeat(170),
    });
    const atCapacity = await refused(good, [429, "concurrency_limit_exceeded", null]);
    assert.ok(Number(atCapacity.headers.get("retry-after")) >= 1);
    const cancel = await gateway.post(`/v1/tasks/${waiting.id}/cancel`, {});
    await cancel.body?.cancel();
    await gateway.ended(waiting.id);
    await gateway.submit("/v1/images/generations", good);
    await gateway.verify();
  },
);

Deno.test(
  "400 that names the field for a text that no database holds, and nothing is stored",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway();
    for (const half of ["\\ud83d", "\\ude00 \\ud83d", "a\\u0000b"]) {
      const res = await gateway.post(
        "/v1/images/generations",
        `{"model":"image-model","prompt":"${half}"}`,
      );
      assert.equal(res.status, 400);
      assert.deepEqual(
        await errorOf(res).then(({ code, param }) => [code, param]),
        ["invalid_value", "prompt"],
      );
    }
    const whole = await gateway.submit(
      "/v1/images/generations",
      '{"model":"image-model","prompt":"\\ud83d\\ude00"}',
    );
    assert.equal((await gateway.ended(whole.id)).status, "succeeded");
    assert.equal(await gateway.count("task"), 1);
    assert.ok(!gateway.logged().includes("internal_error"));
  },
);

Deno.test(
  "400 for an input image whose host name leads inside, and nothing is stored",
  STRICT,
  async () => {
    const config = (await Deno.readTextFile(
      new URL("../helpers/media_config.yaml", import.meta.url),
    )).replace("outbound: { allow_private: true }", "");
    await using gateway = await openMediaGateway({
      config,
      resolve: (host) =>
        Promise.resolve([host.startsWith("inside") ? "10.0.0.7" : "93.184.215.14"]),
    });
    const before = await gateway.balance();
    const ask = (...input_images: string[]) =>
      gateway.post("/v1/images/generations", { model: "image-model", prompt: "x", input_images });
    const res = await ask("https://public.example.com/a.png", "https://inside.example.com/a.png");
    assert.equal(res.status, 400);
    const error = await errorOf(res);
    assert.deepEqual([error.code, error.param], ["unsafe_url", "input_images.1"]);
    assert.equal(await gateway.count("task"), 0);
    assert.deepEqual(await gateway.balance(), before);
  },
);

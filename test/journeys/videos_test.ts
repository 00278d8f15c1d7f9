import assert from "node:assert/strict";
import { png, wav } from "../helpers/media.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { errorOf } from "../helpers/open_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "POST /v1/videos/generations: a video of the asked length and ratio, at least the minimum charge",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const task = await gateway.submit("/v1/videos/generations", {
      model: "video-model",
      prompt: "a tide",
      duration: 2,
      aspect_ratio: "1:1",
    });
    assert.equal(task.charge.held, "0.10");
    const done = await gateway.ended(task.id);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    const [video] = done.output;
    assert.equal(video.type, "video");
    assert.equal(video.mime_type, "video/mp4");
    assert.equal(video.width, video.height);
    assert.ok(Math.abs(video.duration - 2) < 0.3, String(video.duration));
    assert.deepEqual(done.usage, { total_units: 2 });
    assert.equal(done.charge.settled, "0.10");
    const part = await fetch(video.url, { headers: { range: "bytes=4-7" } });
    assert.equal(part.status, 206);
    assert.equal(await part.text(), "ftyp");

    const short = await gateway.submit("/v1/videos/generations", {
      model: "video-model",
      prompt: "a tide",
    });
    assert.equal(short.charge.held, "0.08", "the first duration, and the least that is charged");
    assert.equal((await gateway.ended(short.id)).charge.settled, "0.08");
    const overstated = await gateway.submit("/v1/videos/generations", {
      model: "video-model",
      prompt: "[[simulate: overstate]] a tide",
      duration: 2,
    });
    const capped = await gateway.ended(overstated.id);
    assert.equal(capped.charge.settled, "0.10", "an upstream that claims more is not believed");
    assert.deepEqual(await gateway.balance(), { available: "0.72", frozen: "0.00" });
    await gateway.verify();
  },
);

Deno.test("400s of /v1/videos/generations", STRICT, async () => {
  await using gateway = await openMediaGateway();
  const good = { model: "video-model", prompt: "x" };
  const image = await gateway.upload("a.png", png());
  for (
    const [body, code, param] of [
      [{ ...good, duration: 3 }, "duration_not_allowed", "duration"],
      [{ ...good, duration: "2" }, "invalid_value", "duration"],
      [{ ...good, aspect_ratio: "4:3" }, "aspect_ratio_not_allowed", "aspect_ratio"],
      [{ ...good, prompt: "x".repeat(201) }, "prompt_too_long", "prompt"],
      [{ ...good, model: "image-model" }, "capability_not_supported", "model"],
      [{ ...good, model: "from-image" }, "missing_field", "input_images"],
      [
        { ...good, model: "short-video", input_images: [image] },
        "capability_not_supported",
        "input_images",
      ],
      [{ ...good, input_images: [image, image] }, "invalid_value", "input_images"],
      [{ ...good, input_images: "x" }, "invalid_value", "input_images"],
      [{ ...good, n: 2 }, "unknown_field", "n"],
    ] as const
  ) {
    const res = await gateway.post("/v1/videos/generations", body);
    assert.equal(res.status, 400, JSON.stringify(body));
    const error = await errorOf(res);
    assert.deepEqual([error.code, error.param], [code, param], JSON.stringify(body));
  }
  assert.equal(await gateway.count("task"), 0);
  const fromImage = await gateway.submit("/v1/videos/generations", {
    model: "from-image",
    prompt: "x",
    input_images: [image],
  });
  assert.equal((await gateway.ended(fromImage.id)).charge.settled, "0.30");
});

Deno.test(
  "POST /v1/avatars/generations: as long as its audio, and paid by that",
  STRICT,
  async () => {
    await using gateway = await openMediaGateway({ cash: "1.00" });
    const person = await gateway.upload("me.png", png(64, 64));
    const audio = await gateway.upload("me.wav", wav(2));
    const body = { model: "talker", avatar_file_id: person, audio_file_id: audio };
    const task = await gateway.submit("/v1/avatars/generations", body);
    assert.equal(task.charge.held, "0.20", "two seconds, not the most the model can do");
    const done = await gateway.ended(task.id);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    assert.equal(done.output[0].type, "video");
    assert.ok(done.output[0].height > done.output[0].width, "the model's one ratio");
    assert.equal(done.charge.settled, "0.20");
    const long = await gateway.upload("long.wav", wav(6));
    for (
      const [change, code, param] of [
        [{ avatar_file_id: audio }, "invalid_value", "avatar_file_id"],
        [{ audio_file_id: person }, "invalid_value", "audio_file_id"],
        [{ audio_file_id: "file_none" }, "file_not_found", "audio_file_id"],
        [{ audio_file_id: long }, "duration_not_allowed", "audio_file_id"],
        [{ aspect_ratio: "16:9" }, "aspect_ratio_not_allowed", "aspect_ratio"],
        [{ prompt: "x" }, "unknown_field", "prompt"],
        [{ model: "video-model" }, "capability_not_supported", "model"],
      ] as const
    ) {
      const res = await gateway.post("/v1/avatars/generations", { ...body, ...change });
      assert.equal(res.status, 400, JSON.stringify(change));
      const error = await errorOf(res);
      assert.deepEqual([error.code, error.param], [code, param], JSON.stringify(change));
    }
    const understated = wav(3);
    new DataView(understated.buffer).setUint32(40, 16_000, true);
    const longer = { ...body, audio_file_id: await gateway.upload("me.wav", understated) };
    const priced = await gateway.post("/v1/quotes", { path: "/avatars/generations", body: longer });
    assert.equal((await priced.json()).amount, "0.30", "three seconds, though its header says one");
    const quote = await gateway.post("/v1/quotes", { path: "/avatars/generations", body });
    assert.equal((await quote.json()).amount, "0.20");
    await gateway.verify();
  },
);

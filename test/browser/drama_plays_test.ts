import assert from "node:assert/strict";
import { browserTest } from "../helpers/chromium.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { playVideo } from "../helpers/play_video.ts";

const CONFIG = new URL("../helpers/drama_config.yaml", import.meta.url);

browserTest(
  "a drama's final video plays from end to end, in the asked ratio, with its lines",
  async (browser) => {
    await using gateway = await openMediaGateway({
      config: await Deno.readTextFile(CONFIG),
    });
    const { id } = await gateway.submit("/v1/dramas/generations", {
      model: "play",
      title: "Tides",
      script: "Mara waits at the sea. Jon rows towards her. They meet at dusk.",
      characters: [{ name: "Mara" }, { name: "Jon" }],
      aspect_ratio: "9:16",
      business_id: "plays",
      callback_url: "http://127.0.0.1:9/hook",
    });
    const task = await gateway.ended(id, 90);
    assert.equal(task.status, "succeeded", JSON.stringify(task.error));
    const bytes = await (await fetch(task.output[0].url)).bytes();
    const page = await browser.openPage();
    const played = await playVideo(page, bytes);
    assert.ok(played.seconds >= 3, String(played.seconds));
    assert.ok(Math.abs(played.endedAt - played.seconds) < 0.3);
    assert.ok(played.height / played.width > 1.6, `${played.width}×${played.height}`);
    assert.ok(played.audioBytes > 0);
  },
);

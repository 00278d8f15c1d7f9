import assert from "node:assert/strict";
import { SampleVideos } from "../../providers/simulator/media/sample_videos.ts";
import { makeVideo } from "../../providers/simulator/media/video.ts";

Deno.test("mediabunny: dates in MP4 headers have 32 bits, and are zero in the simulator's videos", async () => {
  const bytes = await makeVideo(await new SampleVideos().get("16x9_red"), 1000);
  const text = new TextDecoder("latin1").decode(bytes);
  for (const header of ["mvhd", "tkhd", "mdhd"]) {
    const at = text.indexOf(header);
    assert.ok(at > 0, header);
    assert.equal(bytes[at + 4], 0, `${header} has version 0`);
    assert.deepEqual([...bytes.subarray(at + 8, at + 16)], Array(8).fill(0), header);
    // What follows the dates must be as mediabunny wrote it: a time scale or a track id.
    assert.notEqual(new DataView(bytes.buffer).getUint32(at + 16), 0, header);
  }
});

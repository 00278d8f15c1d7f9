import type { Page } from "playwright-core";

export interface Played {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** The playback position when the browser reported the end. */
  readonly endedAt: number;
  readonly frames: number;
  /** Bytes of audio that were decoded; 0 without audio. */
  readonly audioBytes: number;
  /** A pixel of the frame at each requested time. */
  readonly colours: readonly (readonly number[])[];
}

/** Plays a file from start to end in a browser. */
export async function playVideo(
  page: Page,
  bytes: Uint8Array<ArrayBuffer>,
  { mimeType = "video/mp4", looks = [] }: {
    mimeType?: string;
    /** Seconds, and where to look, as shares of the width and the height. */
    looks?: readonly (readonly [seconds: number, x: number, y: number])[];
  } = {},
): Promise<Played> {
  return await page.evaluate(play, { base64: bytes.toBase64(), mimeType, looks });
}

/** Runs in the page, whose globals Deno's types do not have. */
// deno-lint-ignore no-explicit-any
async function play({ base64, mimeType, looks }: any): Promise<Played> {
  // deno-lint-ignore no-explicit-any
  const { document } = globalThis as any;
  const video = document.createElement("video");
  video.muted = true;
  const binary = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  video.src = URL.createObjectURL(new Blob([binary], { type: mimeType }));
  const waitFor = (name: string) =>
    new Promise((resolve, reject) => {
      video.addEventListener(name, resolve, { once: true });
      video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true });
    });
  document.body.append(video);
  await waitFor("loadeddata");
  const colours = [];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth || 1, video.videoHeight || 1];
  const context = canvas.getContext("2d");
  for (const [seconds, x, y] of looks) {
    const there = waitFor("seeked");
    // A busy machine shows the frame some time after the seek; the same frame is not shown again.
    const shown = new Promise((resolve) => {
      video.requestVideoFrameCallback(resolve);
      setTimeout(resolve, 2_000);
    });
    video.currentTime = seconds;
    await there;
    await shown;
    context.drawImage(video, 0, 0);
    const { data } = context.getImageData(x * canvas.width, y * canvas.height, 1, 1);
    colours.push([...data.slice(0, 3)]);
  }
  if (video.currentTime > 0) {
    const there = waitFor("seeked");
    video.currentTime = 0;
    await there;
  }
  const over = waitFor("ended");
  video.playbackRate = 4;
  await video.play();
  await over;
  const played = {
    seconds: video.duration,
    width: video.videoWidth,
    height: video.videoHeight,
    endedAt: video.currentTime,
    frames: video.getVideoPlaybackQuality().totalVideoFrames,
    audioBytes: video.webkitAudioDecodedByteCount,
    colours,
  };
  video.remove();
  return played;
}

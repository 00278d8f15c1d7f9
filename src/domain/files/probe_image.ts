import { imageSize } from "image-size";
import { type MediaFacts, UNKNOWN_MEDIA, whole } from "./media_facts.ts";

/** The size of an image, by its first bytes. To be run in a worker that can be killed. */
export function probeImage(head: Uint8Array): MediaFacts {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    // EXIF orientations from 5 on are rotated by 90 degrees.
    const [across, down] = orientation >= 5 ? [height, width] : [width, height];
    return { width: whole(across), height: whole(down), durationMs: null };
  } catch {
    // The package throws TypeErrors and RangeErrors for bytes that it cannot read.
    return UNKNOWN_MEDIA;
  }
}

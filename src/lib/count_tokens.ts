import { sleep } from "./timers.ts";

/** Up to here every character is counted; of longer texts, samples of this length together. */
const COUNTED_MAX = 32 * 1024;
const SAMPLES = 64;
const SAMPLE_CHARACTERS = COUNTED_MAX / SAMPLES;
/** After so many characters other work gets its turn: dense text takes some microseconds a character. */
const PAUSE_CHARACTERS = 4 * 1024;
/** The encoder takes quadratic time on a run without a break, such as one letter repeated: none is longer. */
const PIECE_MAX = 128;
/** Names of special tokens are ordinary text in a prompt; the encoder throws at them unless told otherwise. */
const OPTIONS = { disallowedSpecial: new Set<string>() };

/**
 * Tokens of a text as `o200k_base` counts them, in bounded time for any text. Longer texts are sampled at
 * random places, one in each stretch of equal length: no text can be written to look shorter than it is.
 */
export async function countTokens(text: string): Promise<number> {
  if (text === "") return 0;
  // Half a megabyte of tables, and rarely needed: loaded by the first text.
  const { countTokens: count } = await import("gpt-tokenizer/encoding/o200k_base");
  let tokens = 0;
  let untilPause = PAUSE_CHARACTERS;
  const countPart = async (from: number, to: number) => {
    for (let at = from; at < to;) {
      const end = pieceEnd(text, at, to);
      tokens += count(text.slice(at, end), OPTIONS);
      untilPause -= end - at;
      if (untilPause <= 0) {
        untilPause = PAUSE_CHARACTERS;
        await sleep(0);
      }
      at = end;
    }
  };
  if (text.length <= COUNTED_MAX) {
    await countPart(0, text.length);
    return tokens;
  }
  const stretch = text.length / SAMPLES;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.floor(sample * stretch + Math.random() * (stretch - SAMPLE_CHARACTERS));
    await countPart(from, from + SAMPLE_CHARACTERS);
  }
  return Math.ceil(tokens * text.length / COUNTED_MAX);
}

/** Where the next piece ends: before a single space, where no token reaches across, or else where it must. */
function pieceEnd(text: string, at: number, to: number): number {
  const limit = at + PIECE_MAX;
  if (limit >= to) return to;
  for (let end = limit; end > at; end--) {
    const isBreak = text.charCodeAt(end) === 0x20 && text.charCodeAt(end - 1) > 0x20 &&
      text.charCodeAt(end + 1) > 0x20;
    if (isBreak) return end;
  }
  // Not between the two halves of one character.
  return text.codePointAt(limit - 1)! > 0xffff ? limit - 1 : limit;
}

import { hash } from "../random.ts";

export const SAMPLE_RATE = 24_000;
const LETTERS_PER_SECOND = 15;
const SECONDS_MIN = 0.3;

/** The two lowest formants of each vowel, in hertz. */
const VOWELS: Readonly<Record<string, readonly [number, number]>> = {
  a: [750, 1200],
  e: [500, 1900],
  i: [300, 2300],
  o: [450, 850],
  u: [320, 750],
  y: [310, 1900],
};
/** Formants of every consonant. */
const CONSONANT: readonly [number, number] = [250, 1100];
const TABLE_LENGTH = 512;
/** The volume changes over this many samples: a sudden change would click. */
const FADE_SAMPLES = 180;

/** How many samples a text takes: about as long as a person would need. */
export function speechLength(text: string, speed: number): number {
  const seconds = Math.max(SECONDS_MIN, [...text].length / LETTERS_PER_SECOND / speed);
  return Math.round(seconds * SAMPLE_RATE);
}

/** Audio that sounds like speech from afar: vowels have formants, words a falling tone, spaces are silent. */
export function synthesizeSpeech(
  text: string,
  { voice, speed, count }: { voice: string; speed: number; count: number },
): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(count);
  const pitch = 105 + hash(voice) % 120;
  const tables = new Map<string, Float32Array>();
  const letters = [...text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase()];
  const step = speechLength(text, speed) / Math.max(1, letters.length);
  let [phase, volume, inWord, at] = [0, 0, 0, 0];
  for (let index = 0; at < count; index++) {
    const letter = letters[index] ?? " ";
    const isVowel = letter in VOWELS;
    const isVoiced = isVowel || /[\p{L}\p{N}]/u.test(letter);
    inWord = isVoiced ? inWord + 1 : 0;
    const wanted = isVowel ? 0.5 : isVoiced ? 0.22 : 0;
    const name = isVowel ? letter : "";
    let table = tables.get(name);
    if (table === undefined) tables.set(name, table = oneCycle(VOWELS[name] ?? CONSONANT, pitch));
    // The tone falls within a word.
    const tone = pitch * (1.12 - Math.min(0.25, inWord * 0.03)) * (1 + 0.02 * Math.sin(index));
    const turn = tone * TABLE_LENGTH / SAMPLE_RATE;
    const end = index < letters.length ? Math.min(count, Math.round((index + 1) * step)) : count;
    for (; at < end; at++) {
      volume += (wanted - volume) / FADE_SAMPLES;
      phase += turn;
      if (phase >= TABLE_LENGTH) phase -= TABLE_LENGTH;
      samples[at] = table[phase | 0]! * volume * 30_000;
    }
  }
  return samples;
}

/** One cycle of a voice: overtones, strongest near the formants. */
function oneCycle(formants: readonly [number, number], pitch: number): Float32Array {
  const cycle = new Float32Array(TABLE_LENGTH);
  let peak = 0;
  for (let at = 0; at < TABLE_LENGTH; at++) {
    let value = 0;
    for (let overtone = 1; overtone <= 24; overtone++) {
      const hertz = overtone * pitch;
      const strength = 0.35 / overtone +
        formants.reduce((sum, centre) => sum + Math.exp(-(((hertz - centre) / 160) ** 2)), 0) /
          Math.sqrt(overtone);
      value += strength * Math.sin(2 * Math.PI * overtone * at / TABLE_LENGTH);
    }
    cycle[at] = value;
    peak = Math.max(peak, Math.abs(value));
  }
  return cycle.map((value) => value / peak);
}

import { hash } from "../chance.ts";

export const SAMPLE_RATE = 24_000;
const LETTERS_PER_SECOND = 15;
const SHORTEST_SECONDS = 0.3;

/** Where the two strongest resonances of a vowel lie, in hertz. */
const VOWELS: Readonly<Record<string, readonly [number, number]>> = {
  a: [750, 1200],
  e: [500, 1900],
  i: [300, 2300],
  o: [450, 850],
  u: [320, 750],
  y: [310, 1900],
};
/** Anything voiced that is no vowel: closed lips. */
const HUM: readonly [number, number] = [250, 1100];
const TABLE_LENGTH = 512;
/** Sound swells and fades over this many samples, or it would click. */
const FADE = 180;

/** How many samples a text takes: about as long as a person would. */
export function speechLength(text: string, speed: number): number {
  const seconds = Math.max(SHORTEST_SECONDS, [...text].length / LETTERS_PER_SECOND / speed);
  return Math.round(seconds * SAMPLE_RATE);
}

/** Murmurs a text: vowels as vowels, words with a melody, spaces as silence. */
export function speak(
  text: string,
  { voice, speed, count }: { voice: string; speed: number; count: number },
): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(count);
  const pitch = 105 + hash(voice) % 120;
  const tables = new Map<string, Float32Array>();
  const letters = [...text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase()];
  const step = speechLength(text, speed) / Math.max(1, letters.length);
  let [phase, loudness, inWord, at] = [0, 0, 0, 0];
  for (let index = 0; at < count; index++) {
    const letter = letters[index] ?? " ";
    const isVowel = letter in VOWELS;
    const isVoiced = isVowel || /[\p{L}\p{N}]/u.test(letter);
    inWord = isVoiced ? inWord + 1 : 0;
    const wanted = isVowel ? 0.5 : isVoiced ? 0.22 : 0;
    const name = isVowel ? letter : "";
    let table = tables.get(name);
    if (table === undefined) tables.set(name, table = oneCycle(VOWELS[name] ?? HUM, pitch));
    // Falls through the word, and wavers a little.
    const tone = pitch * (1.12 - Math.min(0.25, inWord * 0.03)) * (1 + 0.02 * Math.sin(index));
    const turn = tone * TABLE_LENGTH / SAMPLE_RATE;
    const end = index < letters.length ? Math.min(count, Math.round((index + 1) * step)) : count;
    for (; at < end; at++) {
      loudness += (wanted - loudness) / FADE;
      phase += turn;
      if (phase >= TABLE_LENGTH) phase -= TABLE_LENGTH;
      samples[at] = table[phase | 0]! * loudness * 30_000;
    }
  }
  return samples;
}

/** One cycle of a voice: overtones, loudest near the resonances. */
function oneCycle(resonances: readonly [number, number], pitch: number): Float32Array {
  const cycle = new Float32Array(TABLE_LENGTH);
  let peak = 0;
  for (let at = 0; at < TABLE_LENGTH; at++) {
    let value = 0;
    for (let overtone = 1; overtone <= 24; overtone++) {
      const hertz = overtone * pitch;
      const strength = 0.35 / overtone +
        resonances.reduce((sum, centre) => sum + Math.exp(-(((hertz - centre) / 160) ** 2)), 0) /
          Math.sqrt(overtone);
      value += strength * Math.sin(2 * Math.PI * overtone * at / TABLE_LENGTH);
    }
    cycle[at] = value;
    peak = Math.max(peak, Math.abs(value));
  }
  return cycle.map((value) => value / peak);
}

import { type SeededRandom, seededRandom } from "./random.ts";
import { countTokens } from "./tokens.ts";

/** What the text of an answer is made from. */
export interface ProseTopic {
  /** Decides which sentences are chosen. */
  readonly seed: string;
  /** The last message of the user. */
  readonly prompt: string;
  readonly images: number;
  readonly files: number;
  /** Results of tools that have not been answered yet. */
  readonly results: readonly { readonly tool: string; readonly text: string }[];
}

const OPENINGS = [
  "Hello from the simulator. You asked about “{a}”, so let us stay with it for a moment.",
  "This is the simulator speaking. I read “{a}” in your message and liked the sound of it.",
  "The simulator has the floor. Your message turns around “{a}”, and so will this answer.",
  "You are talking to the simulator, which has views on “{a}” and no knowledge at all.",
];

const THOUGHTS = [
  "Think of “{a}” as a door, and of “{b}” as the light behind it.",
  "Most people meet “{b}” first and notice “{a}” only later.",
  "If “{a}” were a river, “{b}” would be the town it visits.",
  "A careful reader would put “{a}” before “{b}”, and sleep well.",
  "There are two ways to look at “{a}”: slowly, and once more.",
  "Perhaps “{b}” is smaller than it seems, and “{a}” more patient.",
  "I counted the letters of “{a}” twice and got the same number.",
  "I never measured how far it is from “{a}” to “{b}”.",
  "Take “{a}” home, water it, and see what “{b}” does in spring.",
  "When in doubt, begin with “{a}” and stop before “{b}” gets tired.",
  "Some say that “{a}” is only “{b}” on a good day.",
  "What “{a}” needs is time; what “{b}” needs is a window.",
];

const CLOSINGS = [
  "Ask again and you will read these very words: no model was called, and nothing was guessed.",
  "That is all a simulator can say; a real model takes over as soon as you declare one.",
  "Every word here follows from yours, so the same question always brings the same answer.",
];

const REASONS = [
  "The message turns around “{a}”.",
  "First I set “{a}” apart from “{b}”.",
  "Then I ask whether “{b}” changes anything about “{a}”: it does not.",
  "There is no need to look anything up, since a simulator knows nothing.",
  "It is enough to be brief and to name “{a}” once more.",
  "I check the order: “{a}” first, “{b}” second.",
  "So the answer can begin.",
];

/** Sentences of reasoning by `reasoning_effort`. */
const EFFORTS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 4,
  high: 6,
  xhigh: 7,
  max: 8,
};

const THOUGHTS_DEFAULT = 4;
const WORDS_MAX = 12;
const WORD_LENGTH_MAX = 24;
const PROMPT_LENGTH_MAX = 4000;
const QUOTE_LENGTH_MAX = 160;
const SPARE_WORDS = ["patience", "weather"];
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}_'’-]*/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const COMMON = new Set(
  ("the and for are was were you your yours with this that these those what which who whom how why when " +
    "where can could would should will shall may might must have has had not but from into onto over " +
    "about please tell give make write say show than then them they their there here our ours his her " +
    "its all any some does did let call use get").split(" "),
);

/** An answer in a few sentences; at least `tokensMin` tokens of them where that is set. */
export function writeProse(topic: ProseTopic, tokensMin = 0): string {
  const random = seededRandom(topic.seed);
  const words = wordsOf(topic.prompt);
  const sentences = [fill(random.pick(OPENINGS), words, random), ...remarksOn(topic)];
  for (const thought of random.shuffle(THOUGHTS).slice(0, THOUGHTS_DEFAULT)) {
    sentences.push(fill(thought, words, random));
  }
  const closing = random.pick(CLOSINGS);
  let tokens = countTokens(sentences.join(" ")) + countTokens(closing);
  while (tokens < tokensMin) {
    const further = fill(random.pick(THOUGHTS), words, random);
    sentences.push(further);
    tokens += countTokens(further);
  }
  return [...sentences, closing].join(" ");
}

/** The reasoning that precedes an answer. */
export function writeReasoning(topic: ProseTopic, effort: string | null): string {
  const random = seededRandom(`${topic.seed} reasoning`);
  const words = wordsOf(topic.prompt);
  const count = EFFORTS[effort ?? "medium"] ?? EFFORTS.medium!;
  return REASONS.slice(0, count).map((reason) => fill(reason, words, random)).join(" ");
}

/** Distinct words of the prompt without common ones; never fewer than two. */
export function wordsOf(prompt: string): string[] {
  const all = allWords(prompt.slice(0, PROMPT_LENGTH_MAX));
  const distinctive = all.filter((word) => word.length > 2 || word.charCodeAt(0) > 127)
    .filter((word) => !COMMON.has(word.toLowerCase()));
  const words = new Map<string, string>();
  for (const word of distinctive.length > 0 ? distinctive : all) {
    const short = [...word].slice(0, WORD_LENGTH_MAX).join("");
    if (!words.has(word.toLowerCase())) words.set(word.toLowerCase(), short);
    if (words.size === WORDS_MAX) break;
  }
  return words.size >= 2 ? [...words.values()] : [...words.values(), ...SPARE_WORDS];
}

function allWords(text: string): string[] {
  if (!UNSPACED.test(text)) return text.match(WORD) ?? [];
  return [...segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment);
}

function fill(sentence: string, words: readonly string[], random: SeededRandom): string {
  const first = random.below(words.length);
  // An offset below the length never leads back to the first word.
  const second = (first + 1 + random.below(words.length - 1)) % words.length;
  return sentence.replaceAll("{a}", () => words[first]!).replaceAll("{b}", () => words[second]!);
}

function remarksOn(topic: ProseTopic): string[] {
  const remarks = topic.results.map(({ tool, text }) =>
    `The tool ${tool} answered “${quoteOf(text)}”.`
  );
  if (topic.images === 1) remarks.push("I see one image in your message.");
  if (topic.images > 1) remarks.push(`I see ${topic.images} images in your message.`);
  if (topic.files === 1) remarks.push("I also see one attached file.");
  if (topic.files > 1) remarks.push(`I also see ${topic.files} attached files.`);
  return remarks;
}

function quoteOf(text: string): string {
  const letters = [...text.slice(0, 4 * QUOTE_LENGTH_MAX).replaceAll(/\s+/g, " ").trim()];
  return letters.length <= QUOTE_LENGTH_MAX
    ? letters.join("")
    : `${letters.slice(0, QUOTE_LENGTH_MAX).join("")}…`;
}

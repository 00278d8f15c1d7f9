/**
 * The simulator's tokens: up to twelve letters and digits, one ideograph or kana, or one other character,
 * each with a single space before it; remaining whitespace in runs of up to sixteen. Joined, the tokens
 * are the text again.
 */
const TOKEN =
  / ?(?:[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[[\p{L}\p{M}\p{N}_]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]{1,12}|[^\s\p{L}\p{M}\p{N}_])|\s{1,16}/gv;

export function tokenize(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

export function countTokens(text: string): number {
  return tokenize(text).length;
}

/**
 * What the simulator counts as a token, and streams one by one: a run of at most twelve letters and
 * digits, one ideograph or kana, or one mark, each together with the single space before it; what
 * whitespace is left over goes in runs of at most sixteen. Joined, the tokens are the text again.
 */
const TOKEN =
  / ?(?:[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[[\p{L}\p{M}\p{N}_]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]{1,12}|[^\s\p{L}\p{M}\p{N}_])|\s{1,16}/gv;

export function tokenize(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

export function countTokens(text: string): number {
  return tokenize(text).length;
}

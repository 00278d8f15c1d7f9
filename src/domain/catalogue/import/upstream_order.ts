/** Priorities from zero for ranks of any kind; equal ranks share one. */
export function priorities(ranks: readonly number[]): number[] {
  const distinct = [...new Set(ranks)].sort((a, b) => a - b);
  return ranks.map((rank) => distinct.indexOf(rank));
}

const WEIGHT_MAX = 1000;
/** Fractions such as 0.25, 2.5 or a third are whole numbers times one of these. */
const MULTIPLES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 100, 1000];

/** Shares of any size as whole numbers from 1 to 1000, in the same proportion or nearly so. */
export function wholeWeights(shares: readonly number[]): number[] {
  for (const multiple of MULTIPLES) {
    const whole = shares.map((share) => Math.round(share * multiple));
    const isExact = whole.every((each, at) => Math.abs(each / multiple - shares[at]!) < 1e-9);
    const divisor = whole.reduce(commonDivisor);
    if (isExact && whole.every((each) => each > 0 && each / divisor <= WEIGHT_MAX)) {
      return whole.map((each) => each / divisor);
    }
  }
  const largest = Math.max(...shares);
  return shares.map((share) => Math.max(1, Math.round(share / largest * WEIGHT_MAX)));
}

function commonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** Priorities from zero for ranks of any kind; equal ranks share one. */
export function priorities(ranks: readonly number[]): number[] {
  const distinct = [...new Set(ranks)].sort((a, b) => a - b);
  return ranks.map((rank) => distinct.indexOf(rank));
}

const WEIGHT_MAX = 1000;

/** Shares of any size as whole numbers from 1 to 1000, in nearly the same proportion. */
export function wholeWeights(shares: readonly number[]): number[] {
  const largest = Math.max(...shares);
  const isWhole = shares.every(Number.isInteger);
  const divisor = isWhole ? commonDivisor(shares) : 1;
  const factor = isWhole && largest / divisor <= WEIGHT_MAX ? 1 / divisor : WEIGHT_MAX / largest;
  return shares.map((share) => Math.max(1, Math.round(share * factor)));
}

function commonDivisor(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => {
    while (b !== 0) [a, b] = [b, a % b];
    return a;
  }) || 1;
}

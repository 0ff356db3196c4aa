// Positions in sorted numbers.

type Numbers = ArrayLike<number>;

// The first position from `begin` on whose number is not less than `value`.
export function lowerBound(numbers: Numbers, value: number, begin = 0, end = numbers.length): number {
  while (begin < end) {
    const middle = (begin + end) >>> 1;
    if (numbers[middle] < value) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

// The same, when it is expected to be near `begin`: steps that double, then a search between the last two.
export function gallop(numbers: Numbers, value: number, begin: number): number {
  let step = 1;
  let low = begin;
  let high = begin;
  while (high < numbers.length && numbers[high] < value) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  return lowerBound(numbers, value, low, Math.min(high, numbers.length));
}

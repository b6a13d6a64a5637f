// freeNumber: a random free number of a range. As upstream, the lower part is reserved for explicit requests, and used
// when the rest is full.
import type { Random } from '../../../base/random/random.ts'

export interface NumberRange {
  readonly first: number
  readonly last: number
  /** How many numbers at the beginning are reserved. */
  readonly reserved: number
}

export function freeNumber(
  { first, last, reserved }: NumberRange,
  random: Random,
  isTaken: (number: number) => boolean,
): number | undefined {
  return (
    freeBetween(first + reserved, last, random, isTaken) ?? freeBetween(first, first + reserved - 1, random, isTaken)
  )
}

function freeBetween(
  first: number,
  last: number,
  random: Random,
  isTaken: (number: number) => boolean,
): number | undefined {
  const size = last - first + 1
  if (size <= 0) return undefined
  const start = random.below(size)
  for (let step = 0; step < size; step++) {
    const number = first + ((start + step) % size)
    if (!isTaken(number)) return number
  }
  return undefined
}

/** As upstream: 1/16 of the range for addresses, 1/32 for ports, within limits; 0 for a small range. */
export const reservedCount = (size: number, share: number, max: number): number =>
  size <= keptBackMin ? 0 : Math.min(Math.max(keptBackMin, Math.floor(size / share)), max)

const keptBackMin = 16

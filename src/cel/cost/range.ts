// Range: the minimum and maximum of a size or a cost.

export interface Range {
  readonly min: number
  readonly max: number
}

/** The maximum of upstream's counters; sums saturate there. */
const most = 2 ** 64

const capped = (value: number): number => Math.min(value, most)

export const fixed = (value: number): Range => ({ min: value, max: value })
export const nothing = fixed(0)
export const unknown: Range = { min: 0, max: most }

export const plus = (...ranges: readonly Range[]): Range => ({
  min: capped(ranges.reduce((sum, { min }) => sum + min, 0)),
  max: capped(ranges.reduce((sum, { max }) => sum + max, 0)),
})

export const times = (a: Range, b: Range): Range => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) })

/** Rounded up. */
export const scaled = ({ min, max }: Range, factor: number): Range => ({
  min: capped(Math.ceil(min * factor)),
  max: capped(Math.ceil(max * factor)),
})

export const either = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })

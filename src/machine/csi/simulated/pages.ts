// Pages of a list: the token is the index of the next entry.
import { DriverError } from './driver-error.ts'

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextToken: string
}

export function pageOf<T>(all: readonly T[], maxEntries: number, startingToken: string): Page<T> {
  const start = startingToken === '' ? 0 : Number(startingToken)
  if (!Number.isInteger(start) || start < 0 || start > all.length)
    throw new DriverError('ABORTED', `starting_token ${JSON.stringify(startingToken)} is not valid`)
  const end = maxEntries > 0 ? Math.min(start + maxEntries, all.length) : all.length
  return { items: all.slice(start, end), nextToken: end < all.length ? String(end) : '' }
}

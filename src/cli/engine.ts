// How V8 keeps its heap in a server that holds a cluster's objects for long and everything else for milliseconds.
import { setFlagsFromString } from 'node:v8'

/**
 * Lists and objects that were once long-lived where they are made are not made in the old generation for that: there each
 * would keep alive what it points to, a whole request, until the next full collection. That made two thirds of what a full
 * collection found.
 */
const birthplace = '--no-allocation-site-pretenuring'

/** A full collection when the heap is larger by this part than what the last one left: memory for time. */
const growth = '--heap-growing-percent=100'

export function tuneEngine(): void {
  for (const flag of [birthplace, growth]) setFlagsFromString(flag)
}

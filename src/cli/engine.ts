// How V8 keeps its heap in a server that holds a cluster's objects for long and everything else for milliseconds.
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

export const engineFlags = [
  // Lists and objects that were once long-lived where they are made are not made in the old generation for that: there
  // each would keep alive what it points to, a whole request, until the next full collection.
  '--no-allocation-site-pretenuring',
  // A full collection when the heap is twice what the last one left. On busy cores it holds everybody up: seldom is best.
  '--heap-growing-percent=100',
]

/**
 * For a server that is ready. Not before: compiled code is kept for the engine with the flags that it was kept with, and what
 * Node.js brings of its own, and has kept of us, has none of these.
 */
export function tuneEngine(): void {
  flushCompileCache()
  for (const flag of engineFlags) setFlagsFromString(flag)
}

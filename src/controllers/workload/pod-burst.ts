// The number of pods, or of claims, that one plan creates or deletes. It is bounded by count, as upstream's burst is, and
// by the bytes of what the pods are made from: a plan holds a copy of parts of it for each pod.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'

/** Pods created or deleted by one plan; the others follow with the next. */
export const podsBurstMax = 500
/** The bytes that the pods of one plan take together as JSON. One pod may exceed them. */
const burstBytesMax = 8 << 20

const bursts = new WeakMap<object, number>()

/** The largest number of pods that one plan creates from this template or spec. */
export const podBurstOf = (source: object): number =>
  getOrInsert(bursts, source, () =>
    Math.max(1, Math.min(podsBurstMax, Math.floor(burstBytesMax / JSON.stringify(source).length))),
  )

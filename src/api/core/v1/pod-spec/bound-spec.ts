// The spec of a pod before and after it is bound. Pods of a template share one spec; once bound each has its own, which
// differs in its node alone: what does not depend on the node still follows from the one that they shared.
import { isInterned, memoizeInterned } from '../../../../base/collections/interned-values.ts'
import type { PodSpec } from './pod-spec.ts'

const sharedSpecs = new WeakMap<PodSpec, PodSpec>()

export function boundSpec(spec: PodSpec, nodeName: string): PodSpec {
  const bound = { ...spec, nodeName }
  if (isInterned(spec)) sharedSpecs.set(bound, spec)
  return bound
}

/** The one that it was bound from, where it shares it with others. */
export const unboundSpec = (spec: PodSpec): PodSpec => sharedSpecs.get(spec) ?? spec

/** As onceForShared, for what follows from a spec whatever its node is. */
export function cachedBySpec<R extends {}>(work: (spec: PodSpec) => R): (spec: PodSpec) => R {
  const once = memoizeInterned(work)
  return (spec) => once(unboundSpec(spec))
}

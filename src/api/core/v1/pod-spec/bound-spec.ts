// The spec of a pod before and after binding. Pods of a template share one spec; after binding each has its own, which
// differs only in its node name: values that do not depend on the node are still cached by the interned spec.
import { isInterned, memoizeInterned } from '../../../../base/collections/interned-values.ts'
import type { PodSpec } from './pod-spec.ts'

const internedSpecs = new WeakMap<PodSpec, PodSpec>()

export function boundSpec(spec: PodSpec, nodeName: string): PodSpec {
  const bound = { ...spec, nodeName }
  if (isInterned(spec)) internedSpecs.set(bound, spec)
  return bound
}

/** The interned spec that this one was bound from, or the spec itself. */
export const unboundSpec = (spec: PodSpec): PodSpec => internedSpecs.get(spec) ?? spec

/** Like memoizeInterned, for values that do not depend on the node name. */
export function cachedBySpec<R extends {}>(work: (spec: PodSpec) => R): (spec: PodSpec) => R {
  const once = memoizeInterned(work)
  return (spec) => once(unboundSpec(spec))
}

// Warnings about finalizers of custom objects that other writers may use as well.
import type { ApiObject } from '../../meta/object.ts'

const standardFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Only new finalizers get a warning. */
export function finalizerWarnings({ metadata }: ApiObject, old?: ApiObject): readonly string[] {
  const known = [...standardFinalizers, ...(old?.metadata.finalizers ?? [])]
  const added = (metadata.finalizers ?? []).filter((name) => !name.includes('/') && !known.includes(name))
  return added.map((name) => {
    const advice = `prefer a domain-qualified finalizer name${name.includes('.') ? ' including a path (/)' : ''}`
    return `metadata.finalizers: ${JSON.stringify(name)}: ${advice} to avoid accidental conflicts with other finalizer writers`
  })
}

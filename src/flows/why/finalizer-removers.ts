// Which component removes each finalizer, and when. A deleted object is kept until its last finalizer is removed.
import { lookup } from '../../base/collections/lookup.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { foregroundFinalizer, orphanFinalizer } from '../../api/meta/deletion-finalizers.ts'

interface Remover {
  readonly by: string
  readonly when: string
  /** Not part of Coxswain. */
  readonly isForeign?: true
}

const removers: Readonly<Record<string, Remover>> = {
  [foregroundFinalizer]: { by: 'the garbage collector', when: 'the objects that it owns are gone' },
  [orphanFinalizer]: { by: 'the garbage collector', when: 'the objects that it owns have lost their owner reference' },
  'batch.kubernetes.io/job-tracking': {
    by: 'the job controller',
    when: 'it has counted the pod in the status of its Job',
  },
  'customresourcecleanup.apiextensions.k8s.io': {
    by: 'the API server',
    when: 'all objects of the kind are deleted',
  },
  kubernetes: { by: 'the namespace controller', when: 'everything in the namespace is deleted' },
  'kubernetes.io/pv-protection': { by: 'the volume protection controller', when: 'no claim is bound to it' },
  'kubernetes.io/pvc-protection': { by: 'the claim protection controller', when: 'no pod uses it' },
  'kubernetes.io/vac-protection': {
    by: 'the volume attributes class protection controller',
    when: 'no volume uses it',
  },
  'networking.k8s.io/service-cidr-finalizer': { by: 'the service CIDR controller', when: 'no Service uses its range' },
  'resource.kubernetes.io/delete-protection': { by: 'the resource claim controller', when: 'no pod uses it' },
  'service.kubernetes.io/load-balancer-cleanup': {
    by: 'the cloud controller manager',
    when: 'the load balancer is removed',
    isForeign: true,
  },
}

/** Which component removes a finalizer, and when. */
function removal(finalizer: string): string {
  const { by, when } = lookup(removers, finalizer) ?? {}
  if (by !== undefined) return `${by} removes ${finalizer} when ${when}`
  return `no component of Coxswain removes ${finalizer}: the controller that added it must do so`
}

/** What to do if the controller of a finalizer does not run. */
const byHand = 'If that controller no longer runs, remove the finalizer with kubectl edit.'

/** Why a deleted object still exists; empty for an object that is not being deleted. */
export function finalizerSentences({ metadata, ...rest }: ApiObject): string[] {
  const { deletionTimestamp, finalizers = [] } = metadata
  // Namespaces also have finalizers in the spec.
  const { spec } = rest as { spec?: { finalizers?: readonly string[] } }
  const all = [...finalizers, ...(spec?.finalizers ?? [])]
  if (deletionTimestamp === undefined || all.length === 0) return []
  const needsHand = all.some(
    (finalizer) => lookup(removers, finalizer)?.isForeign ?? lookup(removers, finalizer) === undefined,
  )
  const listed = `It is being deleted since ${deletionTimestamp} and waits for ${all.length === 1 ? 'its finalizer' : `${all.length} finalizers`}`
  return [`${listed}: ${all.map(removal).join('; ')}.${needsHand ? ` ${byHand}` : ''}`]
}

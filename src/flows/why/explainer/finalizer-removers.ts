// Which component removes each finalizer, and when. A deleted object is kept until its last finalizer is removed.
import { lookup } from '../../../base/collections/lookup.ts'
import type { ResourceType } from '../../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import { foregroundFinalizer, orphanFinalizer } from '../../../api/meta/deletion-finalizers.ts'
import { problem, warning, type Finding } from './finding.ts'
import { mergePatch } from './fix-command.ts'

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

const isForeign = (finalizer: string): boolean =>
  lookup(removers, finalizer)?.isForeign ?? !Object.hasOwn(removers, finalizer)

/** Why a deleted object still exists; empty for an object that is not being deleted. */
export function finalizerFindings({ singular }: Pick<ResourceType, 'singular'>, object: ApiObject): Finding[] {
  const { deletionTimestamp, finalizers = [], name } = object.metadata
  // Namespaces also have finalizers in the spec.
  const { spec } = object as { spec?: { finalizers?: readonly string[] } }
  const all = [...finalizers, ...(spec?.finalizers ?? [])]
  if (deletionTimestamp === undefined || all.length === 0) return []
  const listed = `It has been terminating since ${deletionTimestamp} and waits for ${all.length === 1 ? 'its finalizer' : `${all.length} finalizers`}: ${all.map(removal).join('; ')}.`
  if (!all.some(isForeign)) return [warning(listed)]
  return [
    problem(`${listed} If that controller no longer runs, remove the finalizer.`, {
      fix: finalizerRemoval(`${singular}/${name}`, object),
    }),
  ]
}

/** Removes the finalizers whose controllers are not part of the cluster. */
export function finalizerRemoval(target: string, object: ApiObject): string {
  const kept = (object.metadata.finalizers ?? []).filter((finalizer) => !isForeign(finalizer))
  return mergePatch(target, namespaceOf(object), { metadata: { finalizers: kept.length === 0 ? null : kept } })
}

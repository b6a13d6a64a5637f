// The identity of a StatefulSet's pods: ordinal, name, labels and volume claims; and the pod for an ordinal.
import { lookup } from '../../base/collections/lookup.ts'
import type { ControllerRevision } from '../../api/apps/v1/controller-revision.ts'
import type { StatefulSet } from '../../api/apps/v1/stateful-set.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { podFromTemplate, type NewPod } from '../workload/pod-from-template.ts'
import { templateOf } from '../workload/controller-revisions.ts'

export const revisionLabel = 'controller-revision-hash'
const nameLabel = 'statefulset.kubernetes.io/pod-name'
const indexLabel = 'apps.kubernetes.io/pod-index'

export const startOrdinal = ({ spec }: StatefulSet): number => spec.ordinals?.start ?? 0

export const podName = ({ metadata }: StatefulSet, ordinal: number): string => `${metadata.name}-${ordinal}`

/** The ordinal in a pod's name, or -1 if the name is not one of the set. */
export function ordinalOf({ metadata }: StatefulSet, { metadata: { name } }: ApiObject): number {
  const text = name.startsWith(`${metadata.name}-`) ? name.slice(metadata.name.length + 1) : ''
  return /^(0|[1-9]\d*)$/.test(text) ? Number(text) : -1
}

export const isInRange = (set: StatefulSet, ordinal: number): boolean =>
  ordinal >= startOrdinal(set) && ordinal < startOrdinal(set) + set.spec.replicas

export const claimName = (template: string, set: StatefulSet, ordinal: number): string =>
  `${template}-${podName(set, ordinal)}`

export const revisionNameOf = ({ metadata }: Pod): string => metadata.labels?.[revisionLabel] ?? ''

const identityLabels = (set: StatefulSet, ordinal: number): Record<string, string> => ({
  [nameLabel]: podName(set, ordinal),
  [indexLabel]: String(ordinal),
})

/** The identity labels that are missing or wrong on a pod. */
export function missingLabels(
  set: StatefulSet,
  { metadata }: Pod,
  ordinal: number,
): Record<string, string> | undefined {
  // The usual case, without allocations: a set may have very many pods.
  const { labels, name } = metadata
  if (labels?.[nameLabel] === name && Number(labels[indexLabel]) === ordinal) return undefined
  const wanted = Object.entries(identityLabels(set, ordinal))
  const missing = wanted.filter(([label, value]) => lookup(metadata.labels, label) !== value)
  return missing.length === 0 ? undefined : Object.fromEntries(missing)
}

export function newPod(set: StatefulSet, ordinal: number, revision: ControllerRevision): NewPod {
  const template = templateOf(revision)
  const { metadata, spec } = podFromTemplate(set.metadata.name, template)
  const name = podName(set, ordinal)
  const claimed = (set.spec.volumeClaimTemplates ?? []).map(({ metadata: { name: claim = '' } }) => ({
    name: claim,
    persistentVolumeClaim: { claimName: claimName(claim, set, ordinal) },
  }))
  const own = new Set(claimed.map((volume) => volume.name))
  const volumes = [...claimed, ...(spec.volumes ?? []).filter((volume) => !own.has(volume.name))]
  const { serviceName } = set.spec
  return {
    metadata: {
      ...metadata,
      name,
      labels: {
        ...template.metadata.labels,
        ...identityLabels(set, ordinal),
        [revisionLabel]: revision.metadata.name,
      },
    },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName ? { subdomain: serviceName } : {}),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  }
}

/** The names of an ordinal's volume claims, in the order of their templates. */
export const claimNames = (set: StatefulSet, ordinal: number): string[] =>
  (set.spec.volumeClaimTemplates ?? []).map(({ metadata: { name = '' } }) => claimName(name, set, ordinal))

/** The volume claim from a template. It outlives its pod, and has no owner unless the retention policy sets one. */
export function newClaim({ spec }: StatefulSet, name: string, index: number): object {
  const template = spec.volumeClaimTemplates?.[index]
  const { labels, annotations } = template?.metadata ?? {}
  return {
    metadata: {
      name,
      labels: { ...labels, ...spec.selector.matchLabels },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [],
    },
    spec: (template as Pick<PersistentVolumeClaim, 'spec'> | undefined)?.spec,
  }
}

// The ReplicaSets of a Deployment: finding the new one, and creating one.
import type { Deployment } from '../../api/apps/v1/deployment.ts'
import type { ReplicaSet, ReplicaSetInput } from '../../api/apps/v1/replica-set.ts'
import type { PodTemplateSpec } from '../../api/core/v1/pod-spec/pod-template-spec.ts'
import { resolveCount } from '../../api/validation/count-or-percent.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { templateHash } from '../workload/template-hash.ts'

export const hashLabel = 'pod-template-hash'
export const revisionAnnotation = 'deployment.kubernetes.io/revision'
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history'
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas'
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas'

/** Annotations of the Deployment that are not copied to its ReplicaSets. */
const notCopied = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
])

export const byAge = (a: ReplicaSet, b: ReplicaSet): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  (a.metadata.name < b.metadata.name ? -1 : 1)

/** The oldest ReplicaSet with the Deployment's template. A race may have created two. */
export const findNew = ({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined =>
  sets.toSorted(byAge).find((set) => equalValues(withoutHash(set.spec.template), withoutHash(spec.template)))

function withoutHash({ metadata, spec }: PodTemplateSpec): object {
  const { [hashLabel]: _, ...labels } = metadata.labels ?? {}
  return { metadata: { ...metadata, labels }, spec }
}

/** The revision annotation as a 64-bit integer; 0 if it is invalid, since any client may write it. */
export function revisionOfSet({ metadata }: ReplicaSet): bigint {
  const text = metadata.annotations?.[revisionAnnotation] ?? ''
  if (!/^[+-]?\d{1,19}$/.test(text)) return 0n
  const revision = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, revision) === revision ? revision : 0n
}

export const totalReplicas = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, { spec }) => sum + spec.replicas, 0)

/** The resolved maxSurge and maxUnavailable. At least one is positive, otherwise the rollout could not proceed. */
export function rollingBounds({ spec }: Deployment): { surge: number; unavailable: number } {
  const { rollingUpdate } = spec.strategy
  if (rollingUpdate === undefined) return { surge: 0, unavailable: 0 }
  const surge = resolveCount(rollingUpdate.maxSurge, spec.replicas, 'up')
  const unavailable = Math.min(resolveCount(rollingUpdate.maxUnavailable, spec.replicas, 'down'), spec.replicas)
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}

export const maxReplicas = (deployment: Deployment): number =>
  deployment.spec.replicas + rollingBounds(deployment).surge

/** The Deployment's size at the last write of a ReplicaSet; proportional scaling starts from it. */
export const sizeAnnotations = (deployment: Deployment): Record<string, string> => ({
  [desiredReplicasAnnotation]: String(deployment.spec.replicas),
  [maxReplicasAnnotation]: String(maxReplicas(deployment)),
})

/** The annotations of the new ReplicaSet. */
export function annotationsFor(
  deployment: Deployment,
  existing: Readonly<Record<string, string>>,
  revision: bigint,
): Record<string, string> {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !notCopied.has(name))
  const before = existing[revisionAnnotation]
  const history = existing[revisionHistoryAnnotation]
  const isRevived = before !== undefined && before !== String(revision)
  return {
    ...existing,
    ...Object.fromEntries(copied),
    ...sizeAnnotations(deployment),
    [revisionAnnotation]: String(revision),
    ...(isRevived ? { [revisionHistoryAnnotation]: history === undefined ? before : `${history},${before}` } : {}),
  }
}

const hashOf = ({ spec, status }: Deployment): string => templateHash(spec.template, status.collisionCount)

export const newReplicaSetName = (deployment: Deployment): string => `${deployment.metadata.name}-${hashOf(deployment)}`

export function newReplicaSet(deployment: Deployment, replicas: number, revision: bigint): ReplicaSetInput {
  const { spec } = deployment
  const hash = hashOf(deployment)
  const labels = { ...spec.template.metadata.labels, [hashLabel]: hash }
  return {
    metadata: { name: newReplicaSetName(deployment), labels, annotations: annotationsFor(deployment, {}, revision) },
    spec: {
      replicas,
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [hashLabel]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  }
}

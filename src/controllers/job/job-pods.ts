// What a Job reads from its pods, and the pods that it creates.
import { greatestOf } from '../../base/collections/extremes.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { Job } from '../../api/batch/v1/job.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { hasFinalizer } from '../../api/meta/finalizers.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import { podFromTemplate, type NewPod } from '../workload/pod-from-template.ts'

/** Prevents that a pod is removed before it is counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
const indexName = 'batch.kubernetes.io/job-completion-index'
const failureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count'
const ignoredCountAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === 'Indexed'
export const hasLimitPerIndex = ({ spec }: Job): boolean =>
  isIndexed({ spec } as Job) && spec.backoffLimitPerIndex !== undefined

export const isTracked = (pod: Pod): boolean => hasFinalizer(pod, trackingFinalizer)

export const isSucceeded = ({ status }: Pod): boolean => status.phase === 'Succeeded'

/** A pod that is being deleted counts as failed, unless the pod replacement policy is Failed. */
export const isFailed = (pod: Pod, { spec }: Job): boolean =>
  pod.status.phase === 'Failed' || (spec.podReplacementPolicy !== 'Failed' && isBeingDeleted(pod) && !isSucceeded(pod))

/** The completion index of a pod; -1 without a valid one. */
export function indexOf({ metadata }: Pod, { spec }: Job): number {
  const text = metadata.annotations?.[indexName] ?? metadata.labels?.[indexName] ?? ''
  const index = /^\d+$/.test(text) ? Number(text) : -1
  return index < (spec.completions ?? 0) ? index : -1
}

/** The pods of each index of an Indexed Job. */
export function podsByIndex(job: Job, pods: readonly Pod[]): ReadonlyMap<number, readonly Pod[]> {
  return isIndexed(job) ? Map.groupBy(pods, (pod) => indexOf(pod, job)) : new Map<number, never>()
}

const countIn = ({ metadata }: Pod, name: string): number => Number(lookup(metadata.annotations, name) ?? 0) || 0

/** The number of failures of the index before this pod. */
export const failuresBefore = (pod: Pod): number => countIn(pod, failureCountAnnotation)

export interface PreviousPod {
  readonly pod: Pod
  readonly isIgnored: boolean
}

/** When the pod finished, according to its status. */
export function finishedMs({ metadata, status }: Pod): number {
  const ended = (status.containerStatuses ?? []).flatMap(({ state }) => state?.terminated?.finishedAt ?? [])
  if (ended.length > 0) return greatestOf(ended.map((time) => Date.parse(time)))
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime)
  return Date.parse(metadata.deletionTimestamp ?? metadata.creationTimestamp)
}

/** A pod of a Job that has no indexes. */
export function newJobPod({ metadata: { name }, spec }: Job): NewPod {
  const made = podFromTemplate(name, spec.template)
  return { ...made, metadata: withTracking(made.metadata) }
}

/** Makes the pods of an Indexed Job. The parts that are equal for all indexes are made once. */
export function indexedPodMaker(job: Job): (index: number, earlier?: PreviousPod) => NewPod {
  const { metadata, spec } = podFromTemplate(job.metadata.name, job.spec.template)
  const { initContainers } = spec
  const shared = {
    ...spec,
    containers: spec.containers.map(withIndexVariable),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withIndexVariable) }),
  }
  const tracked = withTracking(metadata)
  return (index, earlier) => {
    const hostname = `${job.metadata.name}-${index}`
    const { generateName } = podFromTemplate(hostname, job.spec.template).metadata
    const marks = { [indexName]: String(index) }
    const annotations = { ...(metadata['annotations'] as object), ...marks, ...failureAnnotations(job, earlier) }
    const labels = { ...(metadata['labels'] as object), ...marks }
    return { metadata: { ...tracked, generateName, annotations, labels }, spec: { ...shared, hostname } }
  }
}

const withTracking = (metadata: NewPod['metadata']): NewPod['metadata'] => ({
  ...metadata,
  finalizers: [...((metadata['finalizers'] as string[] | undefined) ?? []), trackingFinalizer],
})

const indexVariable = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexName}']` } },
}

const withIndexVariable = <T extends { env?: readonly { name: string }[] }>(container: T): T =>
  container.env?.some(({ name }) => name === indexVariable.name)
    ? container
    : { ...container, env: [...(container.env ?? []), indexVariable] }

function failureAnnotations(job: Job, earlier: PreviousPod | undefined): Record<string, string> {
  if (!hasLimitPerIndex(job)) return {}
  if (earlier === undefined) return { [failureCountAnnotation]: '0' }
  const ignored = countIn(earlier.pod, ignoredCountAnnotation) + (earlier.isIgnored ? 1 : 0)
  return {
    [failureCountAnnotation]: String(failuresBefore(earlier.pod) + (earlier.isIgnored ? 0 : 1)),
    ...(ignored > 0 ? { [ignoredCountAnnotation]: String(ignored) } : {}),
  }
}

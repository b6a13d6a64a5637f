// What a Job reads from its pods, and the pods that it creates.
import { lookup } from '../../base/collections/lookup.ts'
import type { Job } from '../../api/batch/v1/job.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
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

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(trackingFinalizer) ?? false

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
  if (ended.length > 0) return Math.max(...ended.map((time) => Date.parse(time)))
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime)
  return Date.parse(metadata.deletionTimestamp ?? metadata.creationTimestamp)
}

export function newJobPod(job: Job, index: number | undefined, earlier?: PreviousPod): NewPod {
  const name = index === undefined ? job.metadata.name : `${job.metadata.name}-${index}`
  const { metadata, spec } = podFromTemplate(name, job.spec.template)
  const finalizers = [...((metadata['finalizers'] as string[] | undefined) ?? []), trackingFinalizer]
  if (index === undefined) return { metadata: { ...metadata, finalizers }, spec }
  const marks = { [indexName]: String(index) }
  const annotations = { ...(metadata['annotations'] as object), ...marks, ...failureAnnotations(job, earlier) }
  const labels = { ...(metadata['labels'] as object), ...marks }
  const variable = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexName}']` } },
  }
  const withIndex = <T extends { env?: readonly { name: string }[] }>(container: T) =>
    container.env?.some((each) => each.name === variable.name)
      ? container
      : { ...container, env: [...(container.env ?? []), variable] }
  const { initContainers } = spec
  return {
    metadata: { ...metadata, finalizers, annotations, labels },
    spec: {
      ...spec,
      hostname: name,
      containers: spec.containers.map(withIndex),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withIndex) }),
    },
  }
}

function failureAnnotations(job: Job, earlier: PreviousPod | undefined): Record<string, string> {
  if (!hasLimitPerIndex(job)) return {}
  if (earlier === undefined) return { [failureCountAnnotation]: '0' }
  const ignored = countIn(earlier.pod, ignoredCountAnnotation) + (earlier.isIgnored ? 1 : 0)
  return {
    [failureCountAnnotation]: String(failuresBefore(earlier.pod) + (earlier.isIgnored ? 0 : 1)),
    ...(ignored > 0 ? { [ignoredCountAnnotation]: String(ignored) } : {}),
  }
}

// The summaries of workloads: replicas, how far a rollout is, and the objects that they control.
import type { LabelSelector } from '../../../../api/meta/v1/label-selector.ts'
import { selectorText } from '../../../../api/selectors/selectors.ts'
import type { ClusterObject } from '../../source/source.ts'
import { podsTable, titleOf } from './pod-summary.ts'
import {
  fact,
  isControlledBy,
  linkTo,
  sinceCreation,
  tableRowsMax,
  type KindSummary,
  type RelatedLists,
  type RelatedQuery,
  type SummaryFact,
  type SummaryTable,
  type SummaryValue,
} from './summary-parts.ts'

interface Workload {
  readonly replicas?: number
  readonly paused?: boolean
  readonly suspend?: boolean
  readonly serviceName?: string
  readonly schedule?: string
  readonly timeZone?: string
  readonly concurrencyPolicy?: string
  readonly completions?: number
  readonly parallelism?: number
  readonly backoffLimit?: number
  readonly selector?: LabelSelector
  readonly strategy?: { readonly type?: string; readonly rollingUpdate?: Rolling }
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: Rolling }
  readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } }
}

interface Rolling {
  readonly maxSurge?: number | string
  readonly maxUnavailable?: number | string
  readonly partition?: number
}

interface WorkloadStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly updatedReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly desiredNumberScheduled?: number
  readonly updatedNumberScheduled?: number
  readonly numberReady?: number
  readonly numberAvailable?: number
  readonly numberMisscheduled?: number
  readonly active?: number | readonly { readonly name: string }[]
  readonly succeeded?: number
  readonly failed?: number
  readonly lastScheduleTime?: string
  readonly lastSuccessfulTime?: string
  readonly startTime?: string
  readonly completionTime?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[]
}

const specOf = ({ spec }: ClusterObject): Workload => spec ?? {}
const statusOf = ({ status }: ClusterObject): WorkloadStatus => status ?? {}

/** A selector of everything would list all pods. */
function podsOf(object: ClusterObject): readonly RelatedQuery[] {
  const { selector } = specOf(object)
  const labelSelector = selector === undefined ? '' : selectorText(selector)
  const { namespace = '' } = object.metadata
  return labelSelector === '' ? [] : [{ resource: 'pods', namespace, labelSelector }]
}

const controlled = (object: ClusterObject, all: readonly ClusterObject[]): readonly ClusterObject[] =>
  all.filter((each) => isControlledBy(each, object.metadata.uid))

const controlledPods = (object: ClusterObject, lists: RelatedLists): readonly ClusterObject[] =>
  controlled(object, lists('pods'))

const images = (object: ClusterObject): readonly SummaryFact[] =>
  fact('Images', ...(specOf(object).template?.spec?.containers ?? []).map(({ image }) => image))

function replicasText(wanted: number, ready: number): SummaryValue {
  return { text: `${ready} of ${wanted} ready`, state: ready >= wanted ? (wanted === 0 ? 'ended' : 'good') : 'waiting' }
}

function strategyText({ strategy, updateStrategy }: Workload): string | undefined {
  const { type, rollingUpdate } = strategy ?? updateStrategy ?? {}
  const { maxSurge, maxUnavailable, partition } = rollingUpdate ?? {}
  const details = [
    ...(maxSurge === undefined ? [] : [`${maxSurge} more at a time`]),
    ...(maxUnavailable === undefined ? [] : [`${maxUnavailable} unavailable`]),
    ...(partition === undefined || partition === 0 ? [] : [`from ordinal ${partition} on`]),
  ]
  return type === undefined || details.length === 0 ? type : `${type}: ${details.join(', ')}`
}

/** How far the rollout of a Deployment is, as `kubectl rollout status` knows it. */
export function rolloutOf(object: ClusterObject): SummaryValue {
  const { paused = false, replicas: wanted = 1 } = specOf(object)
  const { observedGeneration = 0, updatedReplicas: updated = 0, conditions = [], ...status } = statusOf(object)
  const { replicas = 0, availableReplicas: available = 0 } = status
  const { generation = 0 } = object.metadata as { readonly generation?: number }
  if (paused) return { text: 'paused', state: 'waiting' }
  if (observedGeneration < generation) return { text: 'waits for the controller', state: 'waiting' }
  if (conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded'))
    return { text: 'has exceeded its progress deadline', state: 'failing' }
  if (updated < wanted) return { text: `${updated} of ${wanted} replicas are updated`, state: 'waiting' }
  if (replicas > updated) return { text: `${replicas - updated} old replicas are left`, state: 'waiting' }
  if (available < updated)
    return { text: `${available} of ${updated} updated replicas are available`, state: 'waiting' }
  return { text: 'complete', state: 'good' }
}

export const deploymentSummary: KindSummary = {
  queries(object) {
    const pods = podsOf(object)
    return [...pods.map((query) => ({ ...query, resource: 'replicasets.apps' })), ...pods]
  },
  facts(object) {
    const { replicas = 1, selector } = specOf(object)
    return [
      ...fact('Replicas', replicasText(replicas, statusOf(object).readyReplicas ?? 0)),
      ...fact('Rollout', rolloutOf(object)),
      ...fact('Strategy', strategyText(specOf(object))),
      ...images(object),
      ...fact('Selects', selectorText(selector)),
    ]
  },
  pods(object, lists) {
    const uids = new Set(controlled(object, lists('replicasets.apps')).map(({ metadata }) => metadata.uid))
    return lists('pods').filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uids.has(uid)))
  },
  tables(object, lists) {
    const sets = controlled(object, lists('replicasets.apps')).toSorted((a, b) => revisionOf(b) - revisionOf(a))
    return [podsTable('Pods', deploymentSummary.pods?.(object, lists) ?? [], 'Node'), replicaSetsTable(sets)]
  },
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'
const revisionOf = ({ metadata }: ClusterObject): number => Number(metadata.annotations?.[revisionAnnotation] ?? 0)

const replicaSetsTable = (sets: readonly ClusterObject[]): SummaryTable => ({
  title: titleOf('ReplicaSets', sets),
  columns: ['Name', 'Revision', 'Pods', 'Image', 'Age'],
  rows: sets.slice(0, tableRowsMax).map((set) => [
    linkTo('replicasets.apps', set),
    String(revisionOf(set)),
    replicasText(specOf(set).replicas ?? 0, statusOf(set).readyReplicas ?? 0),
    specOf(set)
      .template?.spec?.containers?.map(({ image = '' }) => image)
      .join(', ') ?? '',
    sinceCreation(set),
  ]),
  empty: 'It has no ReplicaSets.',
})

export const replicasSummary: KindSummary = {
  queries: podsOf,
  facts(object) {
    const { replicas = 1, selector, serviceName } = specOf(object)
    const { readyReplicas = 0, updatedReplicas } = statusOf(object)
    return [
      ...fact('Replicas', replicasText(replicas, readyReplicas)),
      ...fact('Updated', updatedReplicas),
      ...fact('Strategy', strategyText(specOf(object))),
      ...fact('Service', serviceName),
      ...images(object),
      ...fact('Selects', selectorText(selector)),
    ]
  },
  pods: controlledPods,
  tables: (object, lists) => [podsTable('Pods', controlledPods(object, lists), 'Node')],
}

export const daemonSetSummary: KindSummary = {
  queries: podsOf,
  facts(object) {
    const { desiredNumberScheduled = 0, numberReady = 0, updatedNumberScheduled, ...status } = statusOf(object)
    return [
      ...fact('Nodes', replicasText(desiredNumberScheduled, numberReady)),
      ...fact('Updated', updatedNumberScheduled),
      ...fact('On wrong nodes', status.numberMisscheduled === 0 ? undefined : status.numberMisscheduled),
      ...fact('Strategy', strategyText(specOf(object))),
      ...images(object),
      ...fact('Selects', selectorText(specOf(object).selector)),
    ]
  },
  pods: controlledPods,
  tables: (object, lists) => [podsTable('Pods', controlledPods(object, lists), 'Node')],
}

export const jobSummary: KindSummary = {
  queries: podsOf,
  facts(object) {
    const { completions, parallelism, backoffLimit, suspend } = specOf(object)
    const { active, succeeded = 0, failed = 0, startTime, completionTime, conditions = [] } = statusOf(object)
    const hasFailed = conditions.some(({ type, status }) => type === 'Failed' && status === 'True')
    const text = `${succeeded} of ${completions ?? 1} completed`
    return [
      ...fact('Completions', {
        text,
        state: hasFailed ? 'failing' : completionTime === undefined ? 'waiting' : 'ended',
      }),
      ...fact('Suspended', suspend === true ? 'yes' : undefined),
      ...fact('Active pods', typeof active === 'number' ? active : undefined),
      ...fact('Failed pods', failed === 0 ? undefined : { text: String(failed), state: 'failing' }),
      ...fact('At a time', parallelism),
      ...fact('Retries', backoffLimit),
      ...fact('Started', startTime === undefined ? undefined : { since: startTime }),
      ...fact('Completed', completionTime === undefined ? undefined : { since: completionTime }),
      ...images(object),
    ]
  },
  pods: controlledPods,
  tables: (object, lists) => [podsTable('Pods', controlledPods(object, lists), 'Node')],
}

export const cronJobSummary: KindSummary = {
  queries: ({ metadata: { namespace = '' } }) => [{ resource: 'jobs.batch', namespace }],
  facts(object) {
    const { schedule, timeZone, concurrencyPolicy, suspend } = specOf(object)
    const { active, lastScheduleTime, lastSuccessfulTime } = statusOf(object)
    return [
      ...fact('Schedule', schedule),
      ...fact('Time zone', timeZone),
      ...fact('Suspended', { text: suspend === true ? 'yes' : 'no', state: suspend === true ? 'waiting' : 'good' }),
      ...fact('If one still runs', concurrencyPolicy),
      ...fact('Running Jobs', Array.isArray(active) ? active.length : 0),
      ...fact('Last started', lastScheduleTime === undefined ? 'never' : { since: lastScheduleTime }),
      ...fact('Last succeeded', lastSuccessfulTime === undefined ? 'never' : { since: lastSuccessfulTime }),
    ]
  },
  tables(object, lists) {
    const jobs = controlled(object, lists('jobs.batch')).toSorted((a, b) =>
      (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1,
    )
    return [
      {
        title: titleOf('Jobs', jobs),
        columns: ['Name', 'Completions', 'Age'],
        rows: jobs
          .slice(0, tableRowsMax)
          .map((job) => [
            linkTo('jobs.batch', job),
            ...(jobSummary.facts(job, lists)[0]?.values ?? ['']),
            sinceCreation(job),
          ]),
        empty: 'It has no Jobs.',
      },
    ]
  },
}

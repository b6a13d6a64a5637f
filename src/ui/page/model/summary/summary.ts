// The summary of an object by its kind: facts, related objects, and what every kind has.
import type { ClusterObject } from '../../source/source.ts'
import { cellState } from '../cell-states.ts'
import { claimSummary, configMapSummary, secretSummary, serviceAccountSummary } from './config-summaries.ts'
import { ingressSummary, serviceSummary } from './network-summaries.ts'
import { nodeSummary } from './node-summary.ts'
import { podSummary } from './pod-summary.ts'
import {
  fact,
  sinceCreation,
  type KindSummary,
  type RelatedLists,
  type RelatedQuery,
  type Summary,
  type SummaryFact,
  type SummaryTable,
  type SummaryValue,
} from './summary-parts.ts'
import {
  cronJobSummary,
  daemonSetSummary,
  deploymentSummary,
  jobSummary,
  replicasSummary,
} from './workload-summaries.ts'

const summaries: ReadonlyMap<string, KindSummary> = new Map([
  ['configmaps', configMapSummary],
  ['cronjobs.batch', cronJobSummary],
  ['daemonsets.apps', daemonSetSummary],
  ['deployments.apps', deploymentSummary],
  ['ingresses.networking.k8s.io', ingressSummary],
  ['jobs.batch', jobSummary],
  ['nodes', nodeSummary],
  ['persistentvolumeclaims', claimSummary],
  ['pods', podSummary],
  ['replicasets.apps', replicasSummary],
  ['secrets', secretSummary],
  ['serviceaccounts', serviceAccountSummary],
  ['services', serviceSummary],
  ['statefulsets.apps', replicasSummary],
])

/** The lists that the summary of an object needs. */
export const summaryQueries = (resource: string, object: ClusterObject): readonly RelatedQuery[] =>
  summaries.get(resource)?.queries?.(object) ?? []

/** Whether objects of a kind have pods, whose logs can be shown together. */
export const hasPods = (resource: string): boolean => summaries.get(resource)?.pods !== undefined

/** The pods of a workload, if the lists of its summary have been read. */
export const podsOfWorkload = (
  resource: string,
  object: ClusterObject,
  lists: RelatedLists,
): readonly ClusterObject[] => summaries.get(resource)?.pods?.(object, lists) ?? []

export function summaryOf(resource: string, object: ClusterObject, lists: RelatedLists): Summary {
  const kind = summaries.get(resource)
  return {
    facts: [...(kind?.facts(object, lists) ?? []), ...commonFacts(object)],
    tables: [...(kind?.tables?.(object, lists) ?? []), ...conditionsTable(object)],
  }
}

function commonFacts(object: ClusterObject): readonly SummaryFact[] {
  const { labels = {}, annotations = {}, deletionTimestamp, creationTimestamp } = object.metadata
  const pairs = (texts: Readonly<Record<string, string>>): string[] =>
    Object.entries(texts).map(([key, value]) => `${key}=${shortened(value)}`)
  return [
    ...fact('Created', creationTimestamp === undefined ? undefined : sinceCreation(object)),
    ...fact('Being deleted', deletionTimestamp === undefined ? undefined : { since: deletionTimestamp }),
    ...fact('Labels', ...pairs(labels)),
    ...fact('Annotations', ...pairs(annotations)),
  ]
}

/** Annotations may be whole objects. */
const valueCharsMax = 120
const shortened = (value: string): string =>
  value.length > valueCharsMax ? `${value.slice(0, valueCharsMax - 1)}…` : value

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** Conditions that are good news if they are false. */
const isBadNews = (type: string): boolean => /Pressure$|Unavailable$|Fail|Disruption|Stalled/.test(type) // linear: alternatives of fixed texts

function conditionsTable({ status }: ClusterObject): readonly SummaryTable[] {
  const conditions = (status?.['conditions'] ?? []) as readonly Condition[]
  if (conditions.length === 0) return []
  const stateOf = ({ type, status: value }: Condition): SummaryValue => {
    const isGood = isBadNews(type) ? value === 'False' : value === 'True'
    return { text: value, state: value === 'Unknown' ? cellState('Status', value) : isGood ? 'good' : 'waiting' }
  }
  return [
    {
      title: 'Conditions',
      columns: ['Type', 'Status', 'Since', 'Reason', 'Message'],
      rows: conditions.map((each) => [
        each.type,
        stateOf(each),
        { since: each.lastTransitionTime ?? '' },
        each.reason ?? '',
        each.message ?? '',
      ]),
      empty: '',
    },
  ]
}

// why: explains in sentences what is wrong with an object, and which attempts have failed.
import { event, type Event } from '../../api/core/v1/event.ts'
import { qualifiedResource, type ResourceType } from '../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { isRead } from '../../base/observability/background-events.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import {
  budgetExplainer,
  claimExplainer,
  namespaceExplainer,
  nodeExplainer,
  quotaExplainer,
  volumeExplainer,
} from './cluster-explainers.ts'
import { autoscalerExplainer } from './autoscaler-explainer.ts'
import { responsibilityFor, type Responsibility } from './responsible-component.ts'
import {
  apiServiceExplainer,
  certificateRequestExplainer,
  definitionExplainer,
  deviceClaimExplainer,
} from './extension-explainers.ts'
import { finalizerSentences } from './finalizer-removers.ts'
import { podExplainer } from './pod-explainer.ts'
import { gatewayExplainer, grpcRouteExplainer, httpRouteExplainer } from './gateway-explainer.ts'
import { ingressExplainer } from './ingress-explainer.ts'
import { serviceExplainer } from './service-explainer.ts'
import { ownerSentences } from './owners.ts'
import { because, plural, unobservedChange, type Explainer, type ClusterReader } from './explainer.ts'
import {
  cronJobExplainer,
  daemonSetExplainer,
  deploymentExplainer,
  jobExplainer,
  replicaSetExplainer,
  replicationControllerExplainer,
  statefulSetExplainer,
} from './workload-explainers.ts'
import { type Int64 } from '../../schema/scalar/int64.ts'

export const explainers: readonly Explainer[] = [
  apiServiceExplainer,
  autoscalerExplainer,
  budgetExplainer,
  certificateRequestExplainer,
  claimExplainer,
  cronJobExplainer,
  daemonSetExplainer,
  definitionExplainer,
  deploymentExplainer,
  deviceClaimExplainer,
  gatewayExplainer,
  grpcRouteExplainer,
  httpRouteExplainer,
  ingressExplainer,
  jobExplainer,
  namespaceExplainer,
  nodeExplainer,
  podExplainer,
  quotaExplainer,
  replicaSetExplainer,
  replicationControllerExplainer,
  serviceExplainer,
  statefulSetExplainer,
  volumeExplainer,
]

export interface Why {
  /** What is wrong with the object, or what it waits for. */
  readonly waits: readonly string[]
  /** Warning events and failed requests, newest first. */
  readonly tried: readonly string[]
  /** If nothing is wrong: what was checked, or that there is nothing to check. Otherwise empty. */
  readonly summary: string
}

const triedMax = 10

export async function why(
  kind: ResourceType,
  object: ApiObject,
  cluster: ClusterReader,
  recorded: readonly FlowEvent[],
): Promise<Why> {
  const explainer = explainers.find((each) => each.kind === kind || isSameCustomKind(each.kind, kind))
  const own = explainer === undefined ? genericSentences(object) : await explainer.explain(object, cluster)
  const events = await cluster.list(event, namespaceOf(object) || 'default')
  const warnings = events.filter(
    ({ involvedObject, type }) => type === 'Warning' && involvedObject.uid === object.metadata.uid,
  )
  const acting = cluster.isCoxswain === false ? undefined : responsibilityFor(kind, object)
  const waits = counted([
    ...finalizerSentences(object),
    ...own,
    ...(await ownerSentences(object, cluster)),
    ...(acting?.kind === 'unserved' ? [acting.sentence] : []),
  ])
  return {
    waits,
    tried: [...warningSentences(warnings, waits), ...failedCalls(kind, object, recorded)].slice(0, triedMax),
    summary: waits.length === 0 ? summaryOf(object, acting, explainer?.checked ?? 'its conditions and its owners') : '',
  }
}

/** The server describes the kinds of custom resources, so that they are equal in their names only. */
const isSameCustomKind = (known: ResourceType, kind: ResourceType): boolean =>
  known.isCustom === true && qualifiedResource(known) === qualifiedResource(kind)

/** Claims no more than was checked. */
function summaryOf(object: ApiObject, acting: Responsibility | undefined, checked: string): string {
  const { status } = object as { status?: unknown }
  if (acting === undefined && status === undefined)
    return 'It has no status: no controller has reported on it, or its kind needs none. No warning events and failed requests.'
  if (acting?.kind === 'data') return `It is stored. ${acting.readers}; no component has to act on it.`
  return `No problem found. Checked: ${checked}, warning events, failed requests.`
}

/** Equal sentences once, with a count. */
function counted(sentences: readonly string[]): string[] {
  const same = Map.groupBy(sentences, (sentence) => sentence)
  return [...same].map(([sentence, all]) =>
    all.length === 1 ? sentence : `${sentence} (${plural(all.length, 'time')})`,
  )
}

interface ConditionSummary {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** Conditions that report a problem when they are True. */
const badWhenTrue = /^(Dangling|Denied|Failed|NetworkUnavailable|.*Pressure|.*Failure)$/

interface GenericStatus {
  readonly observedGeneration?: Int64
  readonly conditions?: readonly ConditionSummary[]
}

/** For kinds without an explainer: what their controller has not processed, and the conditions that report a problem. */
function genericSentences(object: ApiObject): string[] {
  const { status } = object as { status?: GenericStatus }
  const unobserved = status?.observedGeneration === undefined ? [] : unobservedChange(object, status)
  const bad = (status?.conditions ?? []).filter(
    (condition) => (condition.status === 'True') === badWhenTrue.test(condition.type),
  )
  return [
    ...unobserved,
    ...bad.map((condition) => `Its condition ${condition.type} is ${condition.status}: ${because(condition)}.`),
  ]
}

const lastSeen = ({ lastTimestamp, eventTime, series }: Event): string =>
  (series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? '').replace(/\.\d+Z$/, 'Z')

const timesOf = ({ series, count }: Event): number => series?.count ?? count ?? 1

/** Masks generated names: `"web-x7k2p"` becomes `"web-*"`. */
const maskGeneratedNames = (text: string, maker: string): string =>
  text
    .split('"')
    .map((part) => (part.startsWith(`${maker}-`) ? `${maker}-*` : part))
    .join('"')

const combinedMark = '(combined from similar events): '
const creatingMark = 'Error creating: '

/** Similar events together. Messages that are part of the reasons above are not repeated. */
function warningSentences(events: readonly Event[], reasons: readonly string[]): string[] {
  const newestFirst = events.toSorted((a, b) => lastSeen(b).localeCompare(lastSeen(a)))
  const similar = Map.groupBy(newestFirst, ({ reason = 'Warning', message = '', involvedObject: { name = '' } }) => {
    const text = maskGeneratedNames(message.replace(combinedMark, ''), name)
    const isKnown = reasons.some((sentence) =>
      maskGeneratedNames(sentence, name).includes(text.replace(creatingMark, '')),
    )
    return isKnown ? `${reason}, as above` : `${reason}: ${text}`
  })
  return [...similar].map(([text, same]) => {
    const times = same.reduce((sum, each) => sum + timesOf(each), 0)
    return `${text} (${times > 1 ? `${plural(times, 'time')}, last ` : ''}${same.map(lastSeen)[0]})`
  })
}

/** Successful outcomes of requests, calls to runtimes, probes and webhooks. */
const succeeded = (outcome = ''): boolean => /^[123]\d\d\b|^(ok|allowed|patched)$/.test(outcome)

/** Requests about the object that failed and have not succeeded since; similar ones together. */
function failedCalls(kind: ResourceType, { metadata }: ApiObject, recorded: readonly FlowEvent[]): string[] {
  const isAbout = ({ arrow, what, outcome, object }: FlowEvent): boolean =>
    arrow === 'call' &&
    outcome !== undefined &&
    !isRead(what) &&
    object?.resource === kind.plural &&
    object.name === metadata.name &&
    object.namespace === (metadata.namespace ?? '')
  const attempts = Map.groupBy(recorded.filter(isAbout), ({ from, what }) => `${from} tried to ${what}`)
  const failed = [...attempts].flatMap(([text, calls]) => {
    const since = calls.slice(calls.findLastIndex(({ outcome }) => succeeded(outcome)) + 1)
    return [...Map.groupBy(since, ({ outcome }) => `${text}: ${outcome ?? ''}`)]
  })
  return failed
    .map(([text, calls]) => (calls.length === 1 ? text : `${text} (${plural(calls.length, 'time')})`))
    .toReversed()
}

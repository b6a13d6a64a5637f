// proposalOf: the number of replicas that one metric asks for, and what the status shows of it.
import type { MetricSpec, MetricStatus, MetricValueStatus } from '../../api/autoscaling/v2/autoscaler-spec.ts'
import { isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { AutoscalerSettings } from '../runtime/controller-settings.ts'
import { metricFailure, metricName, typedMetric, type MetricFailure, type TypedMetric } from './metric-names.ts'
import { milliOf, milliText, type MetricReading } from './metric-reading.ts'
import { podGroups } from './pod-groups.ts'
import {
  compareAverage,
  compareUtilization,
  replicasForPods,
  replicasForShare,
  replicasForValue,
  sum,
  type Tolerances,
} from './replica-count.ts'
import { requestedMilli } from './requested-resources.ts'

/** The state of the target. */
export interface TargetState {
  readonly replicas: number
  readonly statusReplicas: number
  /** The pods that its selector matches. */
  readonly pods: readonly Pod[]
}

export interface ProposalInput {
  readonly target: TargetState
  readonly tolerances: Tolerances
  readonly settings: AutoscalerSettings
  readonly nowMs: number
}

export interface MetricProposal {
  readonly kind: 'proposal'
  readonly replicas: number
  readonly name: string
  readonly status: MetricStatus
}

const noPods = 'no pods returned by selector while calculating replica count'
const noUsage = 'did not receive metrics for targeted pods (pods might be unready)'
const noMatch = 'no metrics returned matched known pods'
/** At least this percentage of its request is assumed of a pod without metrics. */
const assumedPercentMin = 100

export function proposalOf(spec: MetricSpec, reading: MetricReading, input: ProposalInput) {
  const metric = typedMetric(spec)
  if (metric === undefined) return unknownType(spec)
  if (reading.kind === 'failed') return metricFailure(metric, reading.message, 'reading')
  const result =
    reading.kind === 'samples' ? forPods(metric, reading.samples, input) : forValue(metric, sum(reading.milli), input)
  if (typeof result === 'string') return metricFailure(metric, result, 'computing')
  const proposal: MetricProposal = {
    kind: 'proposal',
    replicas: result.replicas,
    name: metricName(metric),
    status: metricStatus(metric, result.current),
  }
  return proposal
}

interface Result {
  readonly replicas: number
  readonly current: MetricValueStatus
}

function forPods(
  metric: TypedMetric,
  samples: Extract<MetricReading, { kind: 'samples' }>['samples'],
  { target, tolerances, settings, nowMs }: ProposalInput,
): Result | string {
  const { pods, replicas: current } = target
  if (pods.length === 0) return noPods
  const resource = 'name' in metric.source ? metric.source.name : ''
  const container = metric.type === 'ContainerResource' ? metric.source.container : undefined
  const groups = podGroups(pods, samples, resource, settings, nowMs)
  if (groups.samples.size === 0) return noUsage
  const { averageValue, averageUtilization } = metric.source.target
  if (averageValue !== undefined) {
    const targetMilli = milliOf(averageValue)
    const compare = compareAverage(targetMilli)
    const found = replicasForPods({ current, groups, tolerances, compare, assumedMilli: () => targetMilli })
    if (found === undefined) return noMatch
    return { replicas: found.replicas, current: { averageValue: milliText(found.averageMilli, resource) } }
  }
  if (averageUtilization === undefined)
    return 'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set'
  const requests = requestedMilli(pods, resource, container)
  if (typeof requests === 'string') return requests
  const assumedPercent = BigInt(Math.max(assumedPercentMin, averageUtilization))
  const found = replicasForPods({
    current,
    groups,
    tolerances,
    compare: compareUtilization(requests, averageUtilization),
    assumedMilli: (pod) => ((requests.get(pod) ?? 0n) * assumedPercent) / 100n,
  })
  if (found === undefined) return noMatch
  const { replicas, utilization = 0, averageMilli } = found
  return { replicas, current: { averageUtilization: utilization, averageValue: milliText(averageMilli, resource) } }
}

/** A value of an object or of the outside of the cluster. */
function forValue(metric: TypedMetric, milli: bigint, { target, tolerances }: ProposalInput): Result | string {
  const { value, averageValue } = metric.source.target
  if (averageValue !== undefined) {
    const share = replicasForShare(milli, milliOf(averageValue), target.statusReplicas, tolerances)
    return { replicas: share.replicas, current: { averageValue: milliText(share.averageMilli) } }
  }
  const ratio = Number(milli) / Number(milliOf(value))
  const readyCount = target.pods.filter((pod) => pod.status.phase === 'Running' && isPodReady(pod)).length
  const replicas = replicasForValue(target.replicas, ratio, readyCount, tolerances)
  if (target.pods.length === 0 && replicas !== target.replicas) return `unable to calculate ready pods: ${noPods}`
  return { replicas, current: { value: milliText(milli) } }
}

function metricStatus({ type, source }: TypedMetric, current: MetricValueStatus): MetricStatus {
  switch (type) {
    case 'Resource':
      return { type, resource: { name: source.name, current } }
    case 'ContainerResource':
      return { type, containerResource: { name: source.name, container: source.container, current } }
    case 'Pods':
      return { type, pods: { metric: source.metric, current } }
    case 'Object':
      return { type, object: { describedObject: source.describedObject, metric: source.metric, current } }
    case 'External':
      return { type, external: { metric: source.metric, current } }
    default:
      return type satisfies never
  }
}

function unknownType({ type }: MetricSpec): MetricFailure {
  const message = `unknown metric source type "${type}"`
  return { kind: 'failed', reason: 'InvalidMetricSourceType', message, error: message }
}

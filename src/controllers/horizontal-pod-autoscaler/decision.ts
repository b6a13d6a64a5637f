// decide: the number of replicas of a target, from what its metrics propose. It is a pure function: what was
// read is an argument, and what is to be written is the result.
import type { MetricStatus } from '../../api/autoscaling/v2/autoscaler-spec.ts'
import type { HorizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { quantityNanos } from '../../schema/scalar/quantity.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import type { AutoscalerSettings } from '../runtime/controller-settings.ts'
import { activeFor, notActive, withCondition, type ConditionChange, type Conditions } from './autoscaler-conditions.ts'
import type { MetricFailure } from './metric-names.ts'
import { proposalOf, type MetricProposal, type TargetState } from './metric-proposal.ts'
import type { MetricReading } from './metric-reading.ts'
import type { Tolerances } from './replica-count.ts'
import { limitRate, stabilize, type AutoscalerMemory, type Scaling } from './scaling-rules.ts'

export interface DecisionInput {
  readonly autoscaler: HorizontalPodAutoscaler
  readonly conditions: Conditions
  readonly target: TargetState
  /** One for each metric of the spec. */
  readonly readings: readonly MetricReading[]
  readonly memory: AutoscalerMemory
  readonly settings: AutoscalerSettings
  readonly nowMs: number
}

export interface Decision {
  /** Undefined when it cannot be decided: the target keeps its replicas and the status its desired number. */
  readonly replicas: number | undefined
  /** Why the replicas change. */
  readonly reason: string
  /** Undefined when metrics were not evaluated. */
  readonly metrics?: readonly MetricStatus[]
  /** The replicas that each metric asked for; undefined for one that failed. */
  readonly proposals?: readonly (number | undefined)[]
  readonly conditions: Conditions
  readonly events: readonly EventNote[]
  readonly memory: AutoscalerMemory
}

const nanosPerUnit = 1_000_000_000

export function decide(input: DecisionInput): Decision {
  const { autoscaler, target, readings, settings, nowMs } = input
  const specs = autoscaler.spec.metrics ?? []
  const tolerances = tolerancesOf(autoscaler, settings)
  const results = specs.map((spec, index) => {
    const reading = readings[index] ?? { kind: 'failed', message: 'the metric was not read' }
    return proposalOf(spec, reading, { target, tolerances, settings, nowMs })
  })
  const metrics = results.map((result) => (result.kind === 'failed' ? { type: '' } : result.status))
  const proposals = results.map((result) => (result.kind === 'failed' ? undefined : result.replicas))
  const failures = results.filter((result) => result.kind === 'failed')
  const events = failures.map(({ reason, message }): EventNote => ({ type: 'Warning', reason, message }))
  const highest = highestOf(results)
  const [failure] = failures
  // A metric that failed could have asked for more replicas, so they are not reduced.
  if (highest === undefined || (failure !== undefined && highest.replicas < target.replicas))
    return { ...undecided(input, metrics, failure, failures.length, events), proposals }
  return { ...scaled(input, highest), metrics, events, proposals }
}

/** The first of the highest proposals. */
function highestOf(results: readonly (MetricProposal | MetricFailure)[]): MetricProposal | undefined {
  let highest: MetricProposal | undefined
  for (const result of results)
    if (result.kind === 'proposal' && (highest === undefined || result.replicas > highest.replicas)) highest = result
  return highest
}

function undecided(
  { conditions, memory, nowMs }: DecisionInput,
  metrics: readonly MetricStatus[],
  failure: MetricFailure | undefined,
  count: number,
  events: readonly EventNote[],
): Decision {
  const { reason = '', message = '', error = '' } = failure ?? {}
  const condition = notActive(reason, `the HPA was unable to compute the replica count: ${message}`)
  const summary = `invalid metrics (${count} invalid out of ${metrics.length}), first error is: ${error}`
  return {
    replicas: undefined,
    reason: '',
    metrics,
    memory,
    conditions: withCondition(conditions, condition, nowMs),
    events: [...events, { type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: summary }],
  }
}

function scaled(input: DecisionInput, highest: MetricProposal): Omit<Decision, 'metrics' | 'events'> {
  const { autoscaler, conditions, target, memory, settings, nowMs } = input
  const { downscaleStabilizationMs } = settings
  const current = target.replicas
  const scaling: Scaling = { current, nowMs, memory, limits: autoscaler.spec, downscaleStabilizationMs }
  const stable = stabilize(highest.replicas, scaling)
  const limited = limitRate(stable.replicas, scaling)
  const changes: readonly ConditionChange[] = [
    activeFor(highest.name),
    { type: 'AbleToScale', status: 'True', reason: stable.reason, message: stable.message },
    {
      type: 'ScalingLimited',
      status: limited.replicas === stable.replicas ? 'False' : 'True',
      reason: limited.reason,
      message: limited.message,
    },
  ]
  return {
    replicas: limited.replicas,
    reason: reasonOf(highest, current),
    conditions: changes.reduce((known, change) => withCondition(known, change, nowMs), conditions),
    memory: { ...memory, recommendations: stable.recommendations },
  }
}

/** Empty, as upstream's, when only an earlier recommendation changes the replicas. */
function reasonOf({ replicas, name }: MetricProposal, current: number): string {
  if (replicas > current) return `${name} above target`
  return replicas < current ? 'All metrics below target' : ''
}

function tolerancesOf({ spec }: HorizontalPodAutoscaler, { tolerance }: AutoscalerSettings): Tolerances {
  const { scaleUp, scaleDown } = spec.behavior ?? {}
  return { up: ratioOf(scaleUp?.tolerance) ?? tolerance, down: ratioOf(scaleDown?.tolerance) ?? tolerance }
}

const ratioOf = (quantity: string | undefined): number | undefined =>
  quantity === undefined ? undefined : Number(quantityNanos(quantity) ?? 0n) / nanosPerUnit

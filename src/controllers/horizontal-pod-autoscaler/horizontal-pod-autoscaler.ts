// HorizontalPodAutoscaler: scales a target so that its metrics stay near their values. This file reads and writes;
// decision.ts decides. Every autoscaler is evaluated once in a period, also after a failure.
import type { Context } from '../../base/observability/context.ts'
import {
  horizontalPodAutoscaler,
  type HorizontalPodAutoscaler,
} from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf, namespaceOf, splitKey, type ApiObject } from '../../api/meta/object.ts'
import type { Selector } from '../../api/selectors/selectors.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import type { AutoscalerOutcome } from '../metrics/autoscaler-metrics.ts'
import { defineController, type ObjectIndex } from '../runtime/controller.ts'
import { applyDecision, writeStatus } from './apply-decision.ts'
import {
  notActive,
  scaleNotRead,
  scaleRead,
  scalingDisabled,
  withCondition,
  type ConditionChange,
  type Conditions,
} from './autoscaler-conditions.ts'
import { autoscalerDefaults, settingsOf, warning, type AutoscalerState, type Tools } from './autoscaler-state.ts'
import { AutoscaledPods } from './autoscaled-pods.ts'
import { decide, type Decision } from './decision.ts'
import { MetricsClient } from './metrics-client.ts'
import type { MetricReading } from './metric-reading.ts'
import { isListShared } from './pod-usages.ts'
import { ScaleTargets, type ScaleTarget } from './scale-targets.ts'
import { noMemory, type AutoscalerMemory } from './scaling-rules.ts'

const podsByNamespace: ObjectIndex<Pod> = {
  kind: pod,
  name: 'namespace',
  valuesOf: (object) => [namespaceOf(object)],
}

export const horizontalPodAutoscalerController = defineController<AutoscalerState>({
  name: 'horizontal-pod-autoscaler',
  account: 'horizontal-pod-autoscaler',
  watches: [horizontalPodAutoscaler, pod],
  indexes: [podsByNamespace],
  reconciles: horizontalPodAutoscaler,
  periodMs: ({ horizontalPodAutoscaler: { syncMs } = autoscalerDefaults }) => syncMs,
  state: () => ({
    ...{ targets: new ScaleTargets(), autoscaledPods: new AutoscaledPods() },
    ...{ memories: new Map(), metrics: undefined },
  }),
  // Changes of an autoscaler and of pods take effect in the next period.
  enqueues(kind, { now, before }, { state }) {
    if (kind === pod) state.autoscaledPods.podChanged(before as Pod | undefined, now as Pod | undefined)
    return kind !== horizontalPodAutoscaler || (now !== undefined && before !== undefined)
      ? []
      : [keyOf((now ?? before) as ApiObject)]
  },
  async reconcile(key, tools, context) {
    const autoscaler = tools.cached(horizontalPodAutoscaler, key)
    if (autoscaler !== undefined) {
      await evaluateMeasured(autoscaler, tools, context)
      return settingsOf(tools).syncMs
    }
    const { namespace, name } = splitKey(key)
    tools.metrics.autoscaler.remove(namespace, name)
    tools.state.memories.delete(key)
    tools.state.autoscaledPods.delete(key)
    return undefined
  },
})

async function evaluateMeasured(autoscaler: HorizontalPodAutoscaler, tools: Tools, context: Context): Promise<void> {
  const { autoscaler: metrics } = tools.metrics
  const startMs = tools.monotonicMs
  const { outcome, desiredReplicas } = await evaluate(autoscaler, tools, context)
  metrics.evaluated(outcome, (tools.monotonicMs - startMs) / 1000)
  metrics.set(namespaceOf(autoscaler), autoscaler.metadata.name, desiredReplicas)
}

interface Evaluation {
  readonly outcome: AutoscalerOutcome
  /** Undefined when it could not be decided. */
  readonly desiredReplicas: number | undefined
}

async function evaluate(autoscaler: HorizontalPodAutoscaler, tools: Tools, context: Context): Promise<Evaluation> {
  const { client, state, nowMs } = tools
  const { scaleTargetRef } = autoscaler.spec
  const namespace = namespaceOf(autoscaler)
  const target = await state.targets.read(scaleTargetRef, namespace, client, nowMs, context)
  const known = autoscaler.status.conditions ?? []
  if (typeof target === 'string') {
    tools.recordEvent(autoscaler, warning('FailedGetScale', target), context)
    const conditions = withCondition(known, scaleNotRead(target), nowMs)
    await writeStatus(autoscaler, { ...autoscaler.status, conditions }, tools, context)
    return failed
  }
  const memory = state.memories.get(keyOf(autoscaler)) ?? noMemory
  const started =
    memory.recommendations.length === 0
      ? { ...memory, recommendations: [{ replicas: target.replicas, atMs: nowMs }] }
      : memory
  const conditions = withCondition(known, scaleRead, nowMs)
  const decision = await decisionFor(autoscaler, target, conditions, started, tools, context)
  for (const event of decision.events) tools.recordEvent(autoscaler, event, context)
  const isApplied = await applyDecision(autoscaler, target, decision, tools, context)
  const { replicas } = decision
  if (replicas === undefined || !isApplied) return failed
  return { outcome: { action: actionOf(replicas - target.replicas), error: 'none' }, desiredReplicas: replicas }
}

const failed: Evaluation = { outcome: { action: 'none', error: 'internal' }, desiredReplicas: undefined }

const actionOf = (added: number): AutoscalerOutcome['action'] =>
  added > 0 ? 'scale_up' : added < 0 ? 'scale_down' : 'none'

/** The decision without metrics where the number of replicas or the selector does not allow to evaluate them. */
async function decisionFor(
  autoscaler: HorizontalPodAutoscaler,
  target: ScaleTarget,
  conditions: Conditions,
  memory: AutoscalerMemory,
  tools: Tools,
  context: Context,
): Promise<Decision> {
  const { minReplicas, maxReplicas, metrics = [] } = autoscaler.spec
  const { nowMs } = tools
  const { replicas } = target
  const without: Decision = { replicas, reason: '', conditions, events: [], memory }
  if (replicas === 0 && minReplicas !== 0)
    return { ...without, conditions: withCondition(conditions, scalingDisabled, nowMs) }
  if (replicas > maxReplicas)
    return { ...without, replicas: maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' }
  if (replicas < minReplicas)
    return { ...without, replicas: minReplicas, reason: 'Current number of replicas below Spec.MinReplicas' }
  const { selector, selectorText: podSelector } = target
  const pods = selector === undefined ? [] : podsOf(autoscaler, selector, tools)
  const problem = selectorProblem(target, pods, tools)
  if (problem !== undefined)
    return {
      ...{ replicas: undefined, reason: '', memory },
      conditions: withCondition(conditions, problem.condition, nowMs),
      events: [problem.event, warning('FailedComputeMetricsReplicas', problem.event.message)],
    }
  const reader = (tools.state.metrics ??= new MetricsClient(tools.client, tools.state.targets))
  const namespace = namespaceOf(autoscaler)
  const isShared = isListShared(tools.state.autoscaledPods.sizeOf(namespace))
  const query = { namespace, selector: selector ?? [], podSelector, isShared, nowMs }
  const readings: MetricReading[] = []
  const seconds: number[] = []
  for (const metric of metrics) {
    const startMs = tools.monotonicMs
    readings.push(await reader.read(metric, query, context))
    seconds.push((tools.monotonicMs - startMs) / 1000)
  }
  const state = { replicas, statusReplicas: target.statusReplicas, pods }
  const input = { autoscaler, conditions, target: state, readings, memory, settings: settingsOf(tools), nowMs }
  const decision = decide(input)
  for (const [index, proposed] of (decision.proposals ?? []).entries())
    tools.metrics.autoscaler.computed({
      action: actionOf((proposed ?? replicas) - replicas),
      error: proposed === undefined ? 'internal' : 'none',
      metricType: metrics[index]?.type ?? '',
      seconds: seconds[index] ?? 0,
    })
  return decision
}

const podsOf = (autoscaler: HorizontalPodAutoscaler, selector: Selector, tools: Tools): readonly Pod[] =>
  tools.state.autoscaledPods.select(keyOf(autoscaler), selector, (namespace) =>
    tools.byIndex(podsByNamespace, namespace),
  )

interface SelectorProblem {
  readonly event: EventNote
  readonly condition: ConditionChange
}

/** Why the pods of the target cannot be used. */
function selectorProblem(
  { selector, selectorText }: ScaleTarget,
  pods: readonly Pod[],
  { state }: Tools,
): SelectorProblem | undefined {
  if (selector === undefined)
    return {
      event: warning('SelectorRequired', 'selector is required'),
      condition: notActive('InvalidSelector', "the HPA target's scale is missing a selector"),
    }
  const rivals = state.autoscaledPods.controlling(pods)
  if (rivals.length <= 1) return undefined
  const message = `pods by selector ${selectorText} are controlled by multiple HPAs: [${rivals.join(' ')}]`
  return { event: warning('AmbiguousSelector', message), condition: notActive('AmbiguousSelector', message) }
}

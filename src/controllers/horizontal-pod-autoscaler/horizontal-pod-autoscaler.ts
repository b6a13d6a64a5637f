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
import { changeReplicas, keepReplicas, writeStatus } from './apply-decision.ts'
import {
  notActive,
  scaleNotRead,
  scaleRead,
  scalingDisabled,
  withCondition,
  type ConditionChange,
} from './autoscaler-conditions.ts'
import { autoscalerDefaults, settingsOf, warning, type AutoscalerState, type Tools } from './autoscaler-state.ts'
import { AutoscaledPods, type Selected } from './autoscaled-pods.ts'
import { decide, type Decision } from './decision.ts'
import { MetricsClient } from './metrics-client.ts'
import type { MetricReading } from './metric-reading.ts'
import { isListShared } from './pod-usages.ts'
import { scaledKinds, ScaleTargets, type ScaleRead, type ScaleTarget } from './scale-targets.ts'
import { noMemory, type AutoscalerMemory } from './scaling-rules.ts'

const podsByNamespace: ObjectIndex<Pod> = {
  kind: pod,
  name: 'namespace',
  valuesOf: (object) => [namespaceOf(object)],
}

export const horizontalPodAutoscalerController = defineController<AutoscalerState>({
  name: 'horizontal-pod-autoscaler',
  account: 'horizontal-pod-autoscaler',
  watches: [horizontalPodAutoscaler, pod, ...scaledKinds],
  indexes: [podsByNamespace],
  reconciles: horizontalPodAutoscaler,
  periodMs: ({ horizontalPodAutoscaler: { syncMs } = autoscalerDefaults }) => syncMs,
  state: () => ({
    targets: new ScaleTargets(),
    autoscaledPods: new AutoscaledPods(),
    memories: new Map(),
    metrics: undefined,
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
  const cached = state.targets.cached(scaleTargetRef, namespace, tools.cached, nowMs)
  const expected = cached && (await decisionFor(autoscaler, cached, tools, context))
  if (cached !== undefined && expected !== undefined && isKept(expected.decision, cached))
    return apply(autoscaler, cached, expected, tools, context)
  // A change is decided with the scale as it is now: the informers may not have it yet.
  const target = await state.targets.read(scaleTargetRef, namespace, client, nowMs, context)
  if (typeof target === 'string') {
    tools.recordEvent(autoscaler, warning('FailedGetScale', target), context)
    const conditions = withCondition(autoscaler.status.conditions ?? [], scaleNotRead(target), nowMs)
    await writeStatus(autoscaler, { ...autoscaler.status, conditions }, tools, context)
    return failed
  }
  const isCurrent = cached?.resourceVersion === target.resourceVersion
  const measured = (isCurrent && expected) || (await decisionFor(autoscaler, target, tools, context))
  return apply(autoscaler, target, measured, tools, context)
}

const failed: Evaluation = { outcome: { action: 'none', error: 'internal' }, desiredReplicas: undefined }

const isKept = ({ replicas }: Decision, target: ScaleTarget): boolean =>
  replicas === undefined || replicas === target.replicas

async function apply(
  autoscaler: HorizontalPodAutoscaler,
  target: ScaleTarget | ScaleRead,
  { decision, seconds }: MeasuredDecision,
  tools: Tools,
  context: Context,
): Promise<Evaluation> {
  const { metrics = [] } = autoscaler.spec
  const { replicas = target.replicas, proposals = [] } = decision
  for (const [index, proposed] of proposals.entries())
    tools.metrics.autoscaler.computed({
      action: actionOf((proposed ?? target.replicas) - target.replicas),
      error: proposed === undefined ? 'internal' : 'none',
      metricType: metrics[index]?.type ?? '',
      seconds: seconds[index] ?? 0,
    })
  for (const event of decision.events) tools.recordEvent(autoscaler, event, context)
  if (replicas === target.replicas || !('scale' in target)) {
    await keepReplicas(autoscaler, target, decision, tools, context)
    if (decision.replicas === undefined) return failed
  } else if (!(await changeReplicas(autoscaler, target, replicas, decision, tools, context))) return failed
  return { outcome: { action: actionOf(replicas - target.replicas), error: 'none' }, desiredReplicas: replicas }
}

const actionOf = (added: number): AutoscalerOutcome['action'] =>
  added > 0 ? 'scale_up' : added < 0 ? 'scale_down' : 'none'

interface MeasuredDecision {
  readonly decision: Decision
  /** How long each metric took to read. */
  readonly seconds: readonly number[]
}

/** The decision without metrics where the number of replicas or the selector does not allow to evaluate them. */
async function decisionFor(
  autoscaler: HorizontalPodAutoscaler,
  target: ScaleTarget,
  tools: Tools,
  context: Context,
): Promise<MeasuredDecision> {
  const { minReplicas, maxReplicas, metrics = [] } = autoscaler.spec
  const { nowMs } = tools
  const { replicas } = target
  const conditions = withCondition(autoscaler.status.conditions ?? [], scaleRead, nowMs)
  const memory = memoryOf(autoscaler, replicas, tools)
  const without: Decision = { replicas, reason: '', conditions, events: [], memory }
  const unmeasured = (decision: Decision): MeasuredDecision => ({ decision, seconds: [] })
  if (replicas === 0 && minReplicas !== 0)
    return unmeasured({ ...without, conditions: withCondition(conditions, scalingDisabled, nowMs) })
  if (replicas > maxReplicas)
    return unmeasured({
      ...without,
      replicas: maxReplicas,
      reason: 'Current number of replicas above Spec.MaxReplicas',
    })
  if (replicas < minReplicas)
    return unmeasured({
      ...without,
      replicas: minReplicas,
      reason: 'Current number of replicas below Spec.MinReplicas',
    })
  const { selector, selectorText: podSelector } = target
  const selected = selector === undefined ? nothingSelected : selectedBy(autoscaler, selector, tools)
  const problem = selectorProblem(target, selected)
  if (problem !== undefined)
    return unmeasured({
      replicas: undefined,
      reason: '',
      memory,
      conditions: withCondition(conditions, problem.condition, nowMs),
      events: [problem.event, warning('FailedComputeMetricsReplicas', problem.event.message)],
    })
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
  const state = { replicas, statusReplicas: target.statusReplicas, pods: selected.pods }
  const input = { autoscaler, conditions, target: state, readings, memory, settings: settingsOf(tools), nowMs }
  return { decision: decide(input), seconds }
}

/** The first recommendation is the number of replicas at the first evaluation. */
function memoryOf(autoscaler: HorizontalPodAutoscaler, replicas: number, { state, nowMs }: Tools): AutoscalerMemory {
  const memory = state.memories.get(keyOf(autoscaler)) ?? noMemory
  return memory.recommendations.length === 0 ? { ...memory, recommendations: [{ replicas, atMs: nowMs }] } : memory
}

const nothingSelected: Selected = { pods: [], controllers: [] }

const selectedBy = (autoscaler: HorizontalPodAutoscaler, selector: Selector, tools: Tools): Selected =>
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
  { controllers }: Selected,
): SelectorProblem | undefined {
  if (selector === undefined)
    return {
      event: warning('SelectorRequired', 'selector is required'),
      condition: notActive('InvalidSelector', "the HPA target's scale is missing a selector"),
    }
  if (controllers.length <= 1) return undefined
  const message = `pods by selector ${selectorText} are controlled by multiple HPAs: [${controllers.join(' ')}]`
  return { event: warning('AmbiguousSelector', message), condition: notActive('AmbiguousSelector', message) }
}

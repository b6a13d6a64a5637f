// What autoscaling/v1 has no fields for, as annotations: other metrics, their current values, conditions, behavior.
import { lookup } from '../../../base/collections/lookup.ts'
import type { ObjectMeta } from '../../meta/v1/object-meta.ts'
import type {
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
} from '../v2/autoscaler-spec.ts'
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from './metric-conversion.ts'

const prefix = 'autoscaling.alpha.kubernetes.io'
const names = {
  metrics: `${prefix}/metrics`,
  currentMetrics: `${prefix}/current-metrics`,
  conditions: `${prefix}/conditions`,
  behavior: `${prefix}/behavior`,
} as const

export interface BesideFields {
  readonly metrics?: readonly MetricSpec[] | undefined
  readonly currentMetrics?: readonly MetricStatus[] | undefined
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[] | undefined
  readonly behavior?: HorizontalPodAutoscalerBehavior | undefined
}

export function autoscalerAnnotations(beside: BesideFields): Record<string, string> {
  const { metrics = [], currentMetrics = [], conditions = [], behavior } = beside
  const values: [string, unknown][] = []
  if (metrics.length > 0) values.push([names.metrics, metrics.map(metricToV1)])
  if (currentMetrics.length > 0) values.push([names.currentMetrics, currentMetrics.map(metricStatusToV1)])
  if (behavior !== undefined) values.push([names.behavior, goBehavior(behavior)])
  if (conditions.length > 0) values.push([names.conditions, conditions])
  return Object.fromEntries(values.map(([name, value]) => [name, JSON.stringify(value)]))
}

/** An annotation that cannot be parsed is ignored, as upstream does. */
export function fromAnnotations(annotations: Readonly<Record<string, string>>): BesideFields {
  const read = <T>(name: string, convert: (value: unknown) => T): T | undefined => {
    const text = lookup(annotations, name)
    if (text === undefined) return undefined
    try {
      return convert(JSON.parse(text))
    } catch {
      return undefined
    }
  }
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
  return {
    metrics: read(names.metrics, (value) => list(value).map((item) => metricFromV1(item as never))),
    currentMetrics: read(names.currentMetrics, (value) => list(value).map((item) => metricStatusFromV1(item as never))),
    conditions: read(names.conditions, (value) => list(value) as HorizontalPodAutoscalerCondition[]),
    behavior: read(names.behavior, (value) => fromGoBehavior(value as GoBehavior)),
  }
}

export function withoutAutoscalerAnnotations(metadata: ObjectMeta): ObjectMeta {
  const { annotations, ...rest } = metadata
  const dropped: readonly string[] = Object.values(names)
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !dropped.includes(name))
  return kept.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(kept) }
}

/** Upstream writes the behavior as its internal type, with Go's field names. */
interface GoRules {
  readonly StabilizationWindowSeconds: number | null
  readonly SelectPolicy: string | null
  readonly Policies: readonly { readonly Type: string; readonly Value: number; readonly PeriodSeconds: number }[] | null
  readonly Tolerance: string | null
}

interface GoBehavior {
  readonly ScaleUp: GoRules | null
  readonly ScaleDown: GoRules | null
}

const goBehavior = ({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): GoBehavior => ({
  ScaleUp: goRules(scaleUp),
  ScaleDown: goRules(scaleDown),
})

const goRules = (rules: HPAScalingRules | undefined): GoRules | null =>
  rules === undefined
    ? null
    : {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type, value, periodSeconds }) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
        Tolerance: rules.tolerance ?? null,
      }

const fromGoBehavior = ({ ScaleUp, ScaleDown }: GoBehavior): HorizontalPodAutoscalerBehavior => ({
  ...(ScaleUp ? { scaleUp: fromGoRules(ScaleUp) } : {}),
  ...(ScaleDown ? { scaleDown: fromGoRules(ScaleDown) } : {}),
})

const fromGoRules = ({ StabilizationWindowSeconds, SelectPolicy, Policies, Tolerance }: GoRules): HPAScalingRules => ({
  ...(StabilizationWindowSeconds === null ? {} : { stabilizationWindowSeconds: StabilizationWindowSeconds }),
  ...(SelectPolicy === null ? {} : { selectPolicy: SelectPolicy }),
  ...(Policies === null
    ? {}
    : {
        policies: Policies.map(({ Type, Value, PeriodSeconds }) => ({
          type: Type,
          value: Value,
          periodSeconds: PeriodSeconds,
        })),
      }),
  ...(Tolerance ? { tolerance: Tolerance } : {}),
})

// Conversion of metrics between the flat form of autoscaling/v1 and that of v2.
import type { LabelSelector } from '../../meta/v1/label-selector.ts'
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../v2/autoscaler-spec.ts'

/** The union of the fields of all sources of v1; each kind of source has some of them. */
interface SourceV1 {
  readonly name?: string
  readonly container?: string
  readonly metricName?: string
  readonly target?: CrossVersionObjectReference
  readonly selector?: LabelSelector
  readonly metricSelector?: LabelSelector
  readonly targetValue?: string
  readonly averageValue?: string
  readonly targetAverageValue?: string
  readonly targetAverageUtilization?: number
  readonly currentValue?: string
  readonly currentAverageValue?: string
  readonly currentAverageUtilization?: number
}

const sourceNames = ['object', 'pods', 'resource', 'containerResource', 'external'] as const
type SourceName = (typeof sourceNames)[number]
type MetricV1 = { readonly type: string } & { readonly [Name in SourceName]?: SourceV1 }

/** The properties that have a value. */
const present = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T

const convertSources = <From, To>(
  metric: { readonly type: string } & { readonly [Name in SourceName]?: From },
  convert: (source: From, name: SourceName) => To,
): { readonly type: string } & { readonly [Name in SourceName]?: To } => ({
  type: metric.type,
  ...Object.fromEntries(
    sourceNames.flatMap((name) => {
      const source = metric[name]
      return source === undefined ? [] : [[name, convert(source, name)]]
    }),
  ),
})

/** Any source of v2; its fields depend on its kind. */
interface SourceV2 {
  readonly name?: string
  readonly container?: string
  readonly describedObject?: CrossVersionObjectReference
  readonly metric?: MetricIdentifier
}

const identity = ({ name, container, describedObject, metric }: SourceV2, kind: SourceName): SourceV1 => ({
  ...(name === undefined ? {} : { name }),
  ...(container === undefined ? {} : { container }),
  ...(describedObject === undefined ? {} : { target: describedObject }),
  ...(metric === undefined ? {} : { metricName: metric.name }),
  ...(metric?.selector === undefined
    ? {}
    : kind === 'external'
      ? { metricSelector: metric.selector }
      : { selector: metric.selector }),
})

const identityV2 = (source: SourceV1): SourceV2 => {
  const { name, container, target, metricName } = source
  const selector = source.selector ?? source.metricSelector
  return {
    ...(name === undefined ? {} : { name }),
    ...(container === undefined ? {} : { container }),
    ...(target === undefined ? {} : { describedObject: target }),
    ...(metricName === undefined
      ? {}
      : { metric: { name: metricName, ...(selector === undefined ? {} : { selector }) } }),
  }
}

export const metricToV1 = (metric: MetricSpec): MetricV1 =>
  convertSources<SourceV2 & { target: MetricTarget }, SourceV1>(metric, (source, kind) => {
    const { value, averageValue, averageUtilization } = source.target
    return present({
      ...identity(source, kind),
      targetAverageUtilization: averageUtilization,
      ...(kind === 'object'
        ? { targetValue: value ?? '0', averageValue }
        : { targetValue: value, targetAverageValue: averageValue }),
    }) as SourceV1
  })

export const metricFromV1 = (metric: MetricV1): MetricSpec =>
  convertSources<SourceV1, object>(metric, (source) => {
    const { targetValue, targetAverageUtilization: utilization } = source
    const averageValue = source.averageValue ?? source.targetAverageValue
    const type = utilization !== undefined ? 'Utilization' : averageValue === undefined ? 'Value' : 'AverageValue'
    const target = present({ type, value: targetValue, averageValue, averageUtilization: utilization })
    return { ...identityV2(source), target }
  }) as MetricSpec

export const metricStatusToV1 = (metric: MetricStatus): MetricV1 =>
  convertSources<SourceV2 & { current: MetricValueStatus }, SourceV1>(metric, (source, kind) => {
    const { value, averageValue, averageUtilization } = source.current
    return present({
      ...identity(source, kind),
      currentAverageUtilization: averageUtilization,
      currentValue: value,
      ...(kind === 'object' ? { averageValue } : { currentAverageValue: averageValue }),
    }) as SourceV1
  })

export const metricStatusFromV1 = (metric: MetricV1): MetricStatus =>
  convertSources<SourceV1, object>(metric, (source) => ({
    ...identityV2(source),
    current: present({
      value: source.currentValue,
      averageValue: source.averageValue ?? source.currentAverageValue,
      averageUtilization: source.currentAverageUtilization,
    }),
  })) as MetricStatus

// How upstream names metrics and what failed about them, in conditions, events and the reason of a change.
import { goSelectorText } from './go-selector-text.ts'
import type { MetricSpec, MetricTarget } from '../../api/autoscaling/v2/autoscaler-spec.ts'

/** A metric with the source that its type names. */
export type TypedMetric =
  | { readonly type: 'Resource'; readonly source: NonNullable<MetricSpec['resource']> }
  | { readonly type: 'ContainerResource'; readonly source: NonNullable<MetricSpec['containerResource']> }
  | { readonly type: 'Pods'; readonly source: NonNullable<MetricSpec['pods']> }
  | { readonly type: 'Object'; readonly source: NonNullable<MetricSpec['object']> }
  | { readonly type: 'External'; readonly source: NonNullable<MetricSpec['external']> }

/** Undefined for a type that validation does not allow. */
export function typedMetric(spec: MetricSpec): TypedMetric | undefined {
  const { resource, containerResource, pods, object, external } = spec
  if (spec.type === 'Resource' && resource !== undefined) return { type: 'Resource', source: resource }
  if (spec.type === 'ContainerResource' && containerResource !== undefined)
    return { type: 'ContainerResource', source: containerResource }
  if (spec.type === 'Pods' && pods !== undefined) return { type: 'Pods', source: pods }
  if (spec.type === 'Object' && object !== undefined) return { type: 'Object', source: object }
  if (spec.type === 'External' && external !== undefined) return { type: 'External', source: external }
  return undefined
}

const isUtilization = ({ averageValue }: MetricTarget): boolean => averageValue === undefined

/** The name in "… above target" and in the condition ScalingActive. Averages of objects and of containers are named as upstream does. */
export function metricName(metric: TypedMetric): string {
  switch (metric.type) {
    case 'Resource':
      return `${metric.source.name} resource${isUtilization(metric.source.target) ? percentage : ''}`
    case 'ContainerResource':
      return isUtilization(metric.source.target)
        ? `${metric.source.name} container resource${percentage}`
        : `${metric.source.name} resource`
    case 'Pods':
      return `pods metric ${metric.source.metric.name}`
    case 'Object':
      return metric.source.target.averageValue === undefined
        ? `${metric.source.describedObject.kind} metric ${metric.source.metric.name}`
        : externalName(metric.source.metric)
    case 'External':
      return externalName(metric.source.metric)
    default:
      return metric satisfies never
  }
}

const percentage = ' utilization (percentage of request)'

const externalName = ({ name, selector }: NonNullable<MetricSpec['external']>['metric']): string =>
  `external metric ${name}(${goSelectorText(selector)})`

export interface MetricFailure {
  readonly kind: 'failed'
  /** The reason of the condition and of the event. */
  readonly reason: string
  /** The message of the event. */
  readonly message: string
  /** As the first error of an autoscaler whose metrics are invalid. */
  readonly error: string
}

/** What could not be read or computed, with the context that upstream adds for each type. */
export function metricFailure(metric: TypedMetric, message: string, place: 'reading' | 'computing'): MetricFailure {
  const { type, source } = metric
  const reason = `FailedGet${type}Metric`
  const failed = (own: string, error: string): MetricFailure => ({ kind: 'failed', reason, message: own, error })
  switch (type) {
    case 'Resource':
    case 'ContainerResource': {
      const { name, target } = source
      const read = place === 'reading' ? `unable to get metrics for resource ${name}: ${message}` : message
      const own = `failed to get ${name} ${isUtilization(target) ? 'utilization' : 'usage'}: ${read}`
      const about = type === 'Resource' ? `${name} resource metric` : `${source.container} container metric`
      return failed(own, `failed to get ${about} value: ${own}`)
    }
    case 'Pods': {
      const own = place === 'reading' ? `unable to get metric ${source.metric.name}: ${message}` : message
      return failed(own, `failed to get pods metric value: ${own}`)
    }
    case 'Object': {
      const share =
        source.target.averageValue === undefined ? '' : `failed to get ${source.metric.name} object metric: `
      return failed(message, `failed to get object metric value: ${share}${message}`)
    }
    case 'External': {
      const { name } = source.metric
      const what = source.target.averageValue === undefined ? `external metric ${name}` : `${name} external metric`
      return failed(message, `failed to get ${name} external metric value: failed to get ${what}: ${message}`)
    }
    default:
      return metric satisfies never
  }
}

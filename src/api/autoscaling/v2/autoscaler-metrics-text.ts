// The Targets column of a HorizontalPodAutoscaler: the current and the target value of each metric.
import type {
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  MetricSpec,
  MetricTarget,
  MetricValueStatus,
} from './autoscaler-spec.ts'

const shownMax = 2

/** `cpu: 50%/80%, 30/100 + 1 more...`; a value that is not measured yet is unknown. */
export function metricsText(
  { metrics = [] }: HorizontalPodAutoscalerSpec,
  { currentMetrics }: HorizontalPodAutoscalerStatus,
): string {
  if (metrics.length === 0) return '<none>'
  const texts = metrics.slice(0, shownMax).map((metric, index) => {
    const current = currentMetrics?.[index]
    return metricText(
      metric,
      current?.type === metric.type ? sourceOf<{ readonly current: MetricValueStatus }>(current)?.current : undefined,
    )
  })
  const more = metrics.length - shownMax
  return `${texts.join(', ')}${more > 0 ? ` + ${more} more...` : ''}`
}

interface Sources<Source> {
  readonly type: string
  readonly object?: Source
  readonly pods?: Source
  readonly resource?: Source
  readonly external?: Source
  readonly containerResource?: Source
}

/** The field of a metric that its type names. */
function sourceOf<Source>(metric: Sources<Source>): Source | undefined {
  switch (metric.type) {
    case 'Object':
      return metric.object
    case 'Pods':
      return metric.pods
    case 'Resource':
      return metric.resource
    case 'External':
      return metric.external
    case 'ContainerResource':
      return metric.containerResource
    default:
      return undefined
  }
}

function metricText(metric: MetricSpec, current: MetricValueStatus | undefined): string {
  const target = sourceOf<{ readonly target: MetricTarget }>(metric)?.target
  if (target === undefined) return '<unknown type>'
  const { resource = metric.containerResource } = metric
  if (metric.type === 'Pods') return `${current?.averageValue ?? unknown}/${target.averageValue}`
  if (metric.type === 'Resource' || metric.type === 'ContainerResource')
    return `${resource?.name}: ${resourceText(target, current)}`
  return target.averageValue === undefined
    ? `${current?.value ?? unknown}/${target.value}`
    : `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`
}

const unknown = '<unknown>'

function resourceText(target: MetricTarget, current: MetricValueStatus | undefined): string {
  if (target.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${target.averageValue}`
  const percent = (value: number | undefined, absent: string) => (value === undefined ? absent : `${value}%`)
  return `${percent(current?.averageUtilization, unknown)}/${percent(target.averageUtilization, '<auto>')}`
}

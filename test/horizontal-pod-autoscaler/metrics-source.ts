// The metrics APIs of the scenarios: metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io. The recorder serves
// them to upstream's API server, and the replay to the controller.
import { parseLabelSelector } from '../../src/api/selectors/label-selector-text.ts'
import { matchesLabels } from '../../src/api/selectors/selectors.ts'
import { rfc3339 } from '../../src/base/time/clock.ts'
import { podName } from './objects.ts'
import type { Measures, PodState } from './scenario.ts'

/** The state of one namespace. */
export interface Measured {
  readonly startMs: number
  readonly pods: readonly PodState[]
  readonly measures: Measures
}

export interface MetricsResponse {
  readonly status: number
  readonly body: unknown
}

export const metricsGroups: readonly [group: string, version: string][] = [
  ['metrics.k8s.io', 'v1beta1'],
  ['custom.metrics.k8s.io', 'v1beta2'],
  ['external.metrics.k8s.io', 'v1beta1'],
]

const apis = { 'metrics.k8s.io': 'resource', 'custom.metrics.k8s.io': 'custom', 'external.metrics.k8s.io': 'external' }

/** The response to a request below /apis, by the namespace that it names. */
export function metricsResponse(url: URL, measuredOf: (namespace: string) => Measured | undefined): MetricsResponse {
  const [, , group = '', version = '', , namespace = '', ...rest] = url.pathname.split('/').map(decodeURIComponent)
  if (namespace === '') return discovery(group, version)
  const measured = measuredOf(namespace)
  if (measured === undefined) return failure(404, 'NotFound', 'the namespace has no metrics')
  const api = apis[group as keyof typeof apis] as keyof NonNullable<Measures['failing']>
  const failing = measured.measures.failing?.[api]
  if (failing !== undefined)
    return failure(failing, failing === 403 ? 'Forbidden' : 'ServiceUnavailable', 'the adapter is broken')
  if (api === 'resource') return list('PodMetricsList', `${group}/${version}`, usages(measured, url))
  if (api === 'external') return externalValues(measured, rest, url)
  return customValues(measured, namespace, rest, url)
}

function discovery(group: string, version: string): MetricsResponse {
  const resources = group === 'metrics.k8s.io' ? [resource('pods', 'PodMetrics', ['get', 'list'])] : []
  return { status: 200, body: { kind: 'APIResourceList', groupVersion: `${group}/${version}`, resources } }
}

const resource = (name: string, kind: string, verbs: readonly string[]): object => ({
  name,
  singularName: '',
  namespaced: true,
  kind,
  verbs,
})

const failure = (code: number, reason: string, message: string): MetricsResponse => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
})

const list = (kind: string, apiVersion: string, items: readonly object[]): MetricsResponse => ({
  status: 200,
  body: { kind, apiVersion, metadata: {}, items },
})

const webLabels = { app: 'web' }

/** The pods that the request selects, with their place in the scenario. */
const selected = ({ pods }: Measured, url: URL): { pod: string; index: number }[] => {
  const selector = parseLabelSelector(url.searchParams.get('labelSelector') ?? '')
  return pods.flatMap((state, index) =>
    matchesLabels(selector, state.labels ?? webLabels) ? [{ pod: podName(state, index), index }] : [],
  )
}

function usages(measured: Measured, url: URL): object[] {
  const { cpu = [], memory = [], containers = {}, at = 0, window = '30s' } = measured.measures
  return selected(measured, url).flatMap(({ pod, index }) => {
    const millis = cpu[index] ?? null
    const bytes = memory[index] ?? null
    const only = { ...(millis === null ? {} : { cpu: millis }), ...(bytes === null ? {} : { memory: bytes }) }
    const all = containers[pod] ?? (Object.keys(only).length === 0 ? {} : { c: only })
    if (Object.keys(all).length === 0) return []
    return [
      {
        metadata: { name: pod },
        timestamp: rfc3339(measured.startMs + at * 1000),
        window,
        containers: Object.entries(all).map(([name, usage]) => ({ name, usage })),
      },
    ]
  })
}

function externalValues({ measures, startMs }: Measured, [metric = '']: readonly string[], url: URL): MetricsResponse {
  const selector = parseLabelSelector(url.searchParams.get('labelSelector') ?? '')
  const values = (measures.external?.[metric] ?? []).filter(({ labels = {} }) => matchesLabels(selector, labels))
  const items = values.map(({ value, labels = {} }) => ({
    metricName: metric,
    metricLabels: labels,
    timestamp: rfc3339(startMs),
    value,
  }))
  return list('ExternalMetricValueList', 'external.metrics.k8s.io/v1beta1', items)
}

function customValues(measured: Measured, namespace: string, rest: readonly string[], url: URL): MetricsResponse {
  const [plural = '', name = '', metric = ''] = rest
  const item = (kind: string, of: string, value: string) => ({
    describedObject: { kind, namespace, name: of, apiVersion: 'v1' },
    metric: { name: metric || name },
    timestamp: rfc3339(measured.startMs),
    value,
  })
  const reply = (items: readonly object[]) => list('MetricValueList', 'custom.metrics.k8s.io/v1beta2', items)
  if (plural === 'pods' && name === '*')
    return reply(
      selected(measured, url).flatMap(({ pod, index }) => {
        const value = measured.measures.pods?.[metric]?.[index] ?? null
        return value === null ? [] : [item('Pod', pod, value)]
      }),
    )
  const key = plural === 'metrics' ? `namespace/${name}` : rest.join('/')
  const value = measured.measures.objects?.[key]
  if (value === undefined)
    return failure(404, 'NotFound', `the server could not find the metric ${metric} for ${plural} ${name}`)
  return reply([item('Object', name, value)])
}

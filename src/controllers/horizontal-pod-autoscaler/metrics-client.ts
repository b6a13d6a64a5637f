// MetricsClient: reads metrics through the APIs metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io, which
// the cluster or an adapter serves. A failure is a value: it becomes a condition of the autoscaler.
import { lookup } from '../../base/collections/lookup.ts'
import { durationMs } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { MetricIdentifier, MetricSpec } from '../../api/autoscaling/v2/autoscaler-spec.ts'
import { selectorText } from '../../api/selectors/selectors.ts'
import type { Client } from '../../client/client.ts'
import { goSelectorText } from './go-selector-text.ts'
import { typedMetric, type TypedMetric } from './metric-names.ts'
import { milliOf, type MetricReading, type PodSample } from './metric-reading.ts'
import { PodUsages, type PodUsage, type UsageQuery } from './pod-usages.ts'
import { messageOf, type ScaleTargets } from './scale-targets.ts'

/** In order of preference. */
const customVersions = ['v1beta2', 'v1beta1']
const customGroup = 'custom.metrics.k8s.io'
const versionMsMax = 30_000

/** What is read of a target's pods. */
export type MetricsQuery = UsageQuery

interface CustomValue {
  readonly describedObject?: { readonly name?: string }
  readonly timestamp?: string
  readonly value: string
}

export class MetricsClient {
  readonly #client: Client
  readonly #targets: ScaleTargets
  readonly #podUsages: PodUsages
  #customVersion = ''
  #untilMs = 0

  constructor(client: Client, targets: ScaleTargets) {
    this.#client = client
    this.#targets = targets
    this.#podUsages = new PodUsages((namespace, labelSelector, context) =>
      this.#items(pathOf('metrics.k8s.io/v1beta1', namespace, ['pods'], { labelSelector }), context),
    )
  }

  async read(spec: MetricSpec, query: MetricsQuery, context: Context): Promise<MetricReading> {
    const metric = typedMetric(spec)
    if (metric === undefined) return { kind: 'failed', message: '' }
    const { api, about } = contextOf(metric, query)
    try {
      const reading = await this.#read(metric, query, context)
      const isEmpty = reading.kind === 'samples' ? reading.samples.size === 0 : reading.milli.length === 0
      const isUnmeasured = isEmpty && !('hasItems' in reading && reading.hasItems)
      return isUnmeasured ? { kind: 'failed', message: `${about}no metrics returned from ${api} metrics API` } : reading
    } catch (error) {
      context.signal.throwIfAborted()
      return { kind: 'failed', message: `${about}unable to fetch metrics from ${api} metrics API: ${messageOf(error)}` }
    }
  }

  #read(metric: TypedMetric, query: MetricsQuery, context: Context): Promise<Read> {
    switch (metric.type) {
      case 'Resource':
        return this.#usages(metric.source.name, undefined, query, context)
      case 'ContainerResource':
        return this.#usages(metric.source.name, metric.source.container, query, context)
      case 'Pods':
        return this.#podValues(metric.source.metric, query, context)
      case 'Object':
        return this.#objectValue(metric.source, query, context)
      case 'External':
        return this.#externalValues(metric.source.metric, query, context)
      default:
        return metric satisfies never
    }
  }

  async #usages(resource: string, container: string | undefined, query: MetricsQuery, context: Context): Promise<Read> {
    const items = await this.#podUsages.read(query, context)
    const samples = new Map<string, PodSample>()
    for (const { metadata, timestamp, window, containers } of items) {
      const milli = milliUsed(containers, resource, container)
      if (milli === undefined) continue
      samples.set(metadata.name, { milli, atMs: parseTime(timestamp), windowMs: parseWindow(window) })
    }
    return { kind: 'samples', samples, hasItems: items.length > 0 }
  }

  async #podValues(metric: MetricIdentifier, query: MetricsQuery, context: Context): Promise<Read> {
    const { namespace, podSelector } = query
    const parameters = { labelSelector: podSelector, ...metricSelector(metric) }
    const root = await this.#customRoot(query, context)
    const items = await this.#items<CustomValue>(
      pathOf(root, namespace, ['pods', '*', metric.name], parameters),
      context,
    )
    const samples = items.map(({ describedObject, value, timestamp }): [string, PodSample] => [
      describedObject?.name ?? '',
      { milli: milliOf(value), atMs: Date.parse(timestamp ?? ''), windowMs: 0 },
    ])
    return { kind: 'samples', samples: new Map(samples) }
  }

  async #objectValue(
    { describedObject, metric }: NonNullable<MetricSpec['object']>,
    query: MetricsQuery,
    context: Context,
  ): Promise<Read> {
    const { apiVersion = '', kind, name } = describedObject
    const { namespace, nowMs } = query
    const root = await this.#customRoot(query, context)
    const isNamespace = kind === 'Namespace' && !apiVersion.includes('/')
    const parts = isNamespace
      ? ['metrics', metric.name]
      : [await this.#resourceOf(apiVersion, kind, nowMs, context), name, metric.name]
    const path = pathOf(root, namespace, parts, metricSelector(metric))
    const [value] = await this.#items<CustomValue>(path, context)
    return { kind: 'values', milli: value === undefined ? [] : [milliOf(value.value)] }
  }

  /** `deployments.apps` in the paths of custom metrics. */
  async #resourceOf(apiVersion: string, kind: string, nowMs: number, context: Context): Promise<string> {
    try {
      const [found] = await this.#targets.kindsOf(apiVersion, kind, this.#client, nowMs, context)
      return found === undefined || found.group === '' ? (found?.plural ?? '') : `${found.plural}.${found.group}`
    } catch (error) {
      throw new Error(`unable to map kind ${kind} to resource: ${messageOf(error)}`, { cause: error })
    }
  }

  async #externalValues(metric: MetricIdentifier, { namespace }: MetricsQuery, context: Context): Promise<Read> {
    const parameters = metric.selector === undefined ? {} : { labelSelector: selectorText(metric.selector) }
    const path = pathOf('external.metrics.k8s.io/v1beta1', namespace, [metric.name], parameters)
    const items = await this.#items<{ readonly value: string }>(path, context)
    return { kind: 'values', milli: items.map(({ value }) => milliOf(value)) }
  }

  /** The group and the best version of custom metrics that is served. */
  async #customRoot({ nowMs }: MetricsQuery, context: Context): Promise<string> {
    if (nowMs >= this.#untilMs) {
      this.#customVersion = (await this.#servedCustomVersion(context)) ?? ''
      this.#untilMs = nowMs + versionMsMax
    }
    if (this.#customVersion === '') throw new Error(`no custom metrics API (${customGroup}) registered`)
    return `${customGroup}/${this.#customVersion}`
  }

  async #servedCustomVersion(context: Context): Promise<string | undefined> {
    try {
      const group = await this.#client.read(`/apis/${customGroup}`, 'application/json', context)
      const { versions = [] } = group as { readonly versions?: readonly { readonly version: string }[] }
      return customVersions.find((version) => versions.some((each) => each.version === version))
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return undefined
      throw error
    }
  }

  async #items<T>(path: string, context: Context): Promise<readonly T[]> {
    try {
      const list = await this.#client.read(path, 'application/json', context)
      return (list as { readonly items?: readonly T[] }).items ?? []
    } catch (error) {
      throw readError(error, path)
    }
  }
}

/** The sum over the containers, or the usage of one. Undefined if one is missing, because the sum would be too low. */
function milliUsed(containers: PodUsage['containers'], resource: string, only: string | undefined): bigint | undefined {
  let total: bigint | undefined
  for (const { name, usage } of containers) {
    if (only !== undefined && name !== only) continue
    const amount = lookup(usage, resource)
    if (amount === undefined) return undefined
    total = (total ?? 0n) + milliOf(amount)
  }
  return total
}

/** The pods of a list usually have the same time and window. */
function rememberingLast(parse: (text: string) => number): (text: string) => number {
  let last = { text: '', value: NaN }
  return (text) => {
    if (text !== last.text) last = { text, value: parse(text) }
    return last.value
  }
}

const parseTime = rememberingLast((text) => Date.parse(text))
const parseWindow = rememberingLast((text) => durationMs(text))

type Read = Exclude<MetricReading, { readonly kind: 'failed' }> & { readonly hasItems?: boolean }

function pathOf(
  root: string,
  namespace: string,
  parts: readonly string[],
  parameters: Readonly<Record<string, string>>,
): string {
  const path = ['namespaces', namespace, ...parts].map(encodeURIComponent).join('/')
  const query = new URLSearchParams(parameters).toString()
  return `/apis/${root}/${path}${query === '' ? '' : `?${query}`}`
}

const metricSelector = ({ selector }: MetricIdentifier): Readonly<Record<string, string>> =>
  selector === undefined ? {} : { metricLabelSelector: selectorText(selector) }

/** The name of the API, and what upstream's messages have before it. */
function contextOf({ type, source }: TypedMetric, { namespace }: MetricsQuery): { api: string; about: string } {
  switch (type) {
    case 'Resource':
    case 'ContainerResource':
      return { api: 'resource', about: '' }
    case 'Pods':
      return { api: 'custom', about: '' }
    case 'Object': {
      const { kind, name } = source.describedObject
      return { api: 'custom', about: `unable to get metric ${source.metric.name}: ${kind} on ${namespace} ${name}/` }
    }
    case 'External': {
      const { name, selector } = source.metric
      return {
        api: 'external',
        about: `unable to get external metric ${namespace}/${name}/${goSelectorText(selector)}: `,
      }
    }
    default:
      return type satisfies never
  }
}

/** A response without a Status of its server has upstream's general message, which names the request. */
function readError(error: unknown, path: string): Error {
  if (!(error instanceof StatusError)) return error instanceof Error ? error : new Error(String(error))
  const [, , group = '', , , , resource = '', name = ''] = new URL(path, 'https://server').pathname
    .split('/')
    .map(decodeURIComponent)
  const request = `get ${resource}.${group}${name === '' ? '' : ` ${name}`}`
  if (error.code === 404 && unservedTexts.some((text) => error.message.includes(text)))
    return new Error(`the server could not find the requested resource (${request})`, { cause: error })
  if (error.code === 503 && error.message.startsWith('the server responded with'))
    return new Error(`the server is currently unable to handle the request (${request})`, { cause: error })
  return error
}

const unservedTexts = ['404 page not found', 'the server could not find the requested resource']

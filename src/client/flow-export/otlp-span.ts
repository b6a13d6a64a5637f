// otlpSpan: a flow event as a span of OpenTelemetry, in the JSON encoding of OTLP. The direct cause of an event is its
// parent; further causes, and causes outside of this record, are links. Each component is a service.
import type { FlowEvent, FlowId, FlowObject } from '../../base/observability/flow-recorder.ts'
import type { Span } from '../../base/observability/span.ts'

export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** SPAN_KIND_INTERNAL, _CLIENT or _CONSUMER. */
  readonly kind: 1 | 3 | 5
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly OtlpAttribute[]
  /** The stages of a request, at the time when each was passed. */
  readonly events: readonly { readonly timeUnixNano: string; readonly name: string }[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** STATUS_CODE_UNSET or STATUS_CODE_ERROR. */
  readonly status: { readonly code: 0 | 2; readonly message?: string }
}

interface OtlpAttribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string }
}

const kindOf: Readonly<Record<FlowEvent['arrow'], OtlpSpan['kind']>> = {
  call: 3,
  watch: 5,
  persist: 3,
  reconcile: 1,
  step: 1,
}

/** A span and the component that it belongs to. */
export interface ServiceSpan {
  readonly service: string
  readonly span: OtlpSpan
}

/** The attributes of OpenTelemetry for the names of objects. */
const nameAttributes: ReadonlyMap<string, string> = new Map([
  ['cronjobs', 'k8s.cronjob.name'],
  ['daemonsets', 'k8s.daemonset.name'],
  ['deployments', 'k8s.deployment.name'],
  ['jobs', 'k8s.job.name'],
  ['namespaces', 'k8s.namespace.name'],
  ['nodes', 'k8s.node.name'],
  ['pods', 'k8s.pod.name'],
  ['replicasets', 'k8s.replicaset.name'],
  ['statefulsets', 'k8s.statefulset.name'],
])

/** Where an event belongs: the first event of its trace, its direct cause and its other causes; 0: none. */
export interface SpanPlace {
  readonly root: FlowId
  readonly parent: FlowId
  readonly others: readonly { readonly id: FlowId; readonly root: FlowId }[]
  /** A cause that is not in this record. */
  readonly outside: Span | undefined
}

export function otlpSpan(
  event: FlowEvent,
  { root, parent, others, outside }: SpanPlace,
  record: string,
  hasFailed: boolean,
): ServiceSpan {
  const { id, arrow, from, to, what, atMs, endMs = atMs, outcome, allowedBy, object, revision, stages } = event
  const span: OtlpSpan = {
    traceId: traceIdOf(root, record),
    spanId: spanIdOf(id),
    ...(parent === 0 ? {} : { parentSpanId: spanIdOf(parent) }),
    name: what,
    kind: kindOf[arrow],
    startTimeUnixNano: nanosOf(atMs),
    endTimeUnixNano: nanosOf(Math.max(atMs, endMs)),
    attributes: [
      text('coxswain.arrow', arrow),
      text('coxswain.from', from),
      text('coxswain.to', to),
      ...(outcome === undefined ? [] : [text('coxswain.outcome', outcome)]),
      ...(allowedBy === undefined ? [] : [text('coxswain.allowed_by', allowedBy)]),
      ...(revision === 0 ? [] : [{ key: 'coxswain.revision', value: { intValue: String(revision) } }]),
      ...(object === undefined ? [] : objectAttributes(object)),
    ],
    events: stages.map(({ stage, afterMs }) => ({ timeUnixNano: nanosOf(atMs + afterMs), name: stage })),
    links: [
      ...others.map((each) => ({ traceId: traceIdOf(each.root, record), spanId: spanIdOf(each.id) })),
      ...(outside === undefined ? [] : [linkTo(outside)]),
    ],
    status: hasFailed ? { code: 2, message: outcome ?? what } : { code: 0 },
  }
  // A watch event is consumed by its receiver; everything else is done by its sender.
  return { service: arrow === 'watch' ? to : from, span }
}

function objectAttributes({ resource, namespace, name }: FlowObject): OtlpAttribute[] {
  const own = nameAttributes.get(resource)
  return [
    text('k8s.resource', resource),
    ...(namespace === '' ? [] : [text('k8s.namespace.name', namespace)]),
    ...(name === '' ? [] : [text('k8s.object.name', name)]),
    ...(own === undefined || name === '' ? [] : [text(own, name)]),
  ]
}

/** The body of an ExportTraceServiceRequest. The instance of a service is the record, which a process starts again. */
export const otlpRequest = (spans: readonly ServiceSpan[], record: string): object => ({
  resourceSpans: [...Map.groupBy(spans, ({ service }) => service)].map(([service, some]) => ({
    resource: {
      attributes: [
        text('service.name', service),
        text('service.namespace', 'coxswain'),
        text('service.instance.id', record),
      ],
    },
    scopeSpans: [{ scope: { name: 'coxswain.flow' }, spans: some.map(({ span }) => span) }],
  })),
})

const text = (key: string, stringValue: string): OtlpAttribute => ({ key, value: { stringValue } })

/** Positions start again with each process, so the name of its record is part of the trace. */
const traceIdOf = (root: FlowId, record: string): string => record.slice(0, 16) + spanIdOf(root)
const spanIdOf = (id: FlowId): string => id.toString(16).padStart(16, '0')

/** A span has the form of a traceparent. */
function linkTo(span: Span): { readonly traceId: string; readonly spanId: string } {
  const [, traceId = '', spanId = ''] = span.split('-')
  return { traceId, spanId }
}

const nanosOf = (ms: number): string => (BigInt(Math.round(ms * 1_000)) * 1_000n).toString()

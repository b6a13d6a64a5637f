// otlpSpan: a flow event as a span of OpenTelemetry, in the JSON encoding of OTLP. The direct cause of an event is its
// parent; further causes, and causes outside of this record, are links.
import type { FlowEvent, FlowId, FlowObject, Span } from '../../base/observability/flow-recorder.ts'

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

const failed = /^([45]\d\d\b|given up|error|failed|denied|rejected)/

/** Where an event belongs: the first event of its trace, its direct cause and its other causes; 0: none. */
export interface SpanPlace {
  readonly root: FlowId
  readonly parent: FlowId
  readonly others: readonly { readonly id: FlowId; readonly root: FlowId }[]
  /** A cause that is not in this record. */
  readonly outside: Span | undefined
}

export function otlpSpan(event: FlowEvent, { root, parent, others, outside }: SpanPlace, record: string): OtlpSpan {
  const { id, arrow, from, to, what, atMs, endMs = atMs, outcome, object, revision } = event
  const hasFailed = outcome !== undefined && failed.test(outcome)
  return {
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
      ...(revision === 0 ? [] : [{ key: 'coxswain.revision', value: { intValue: String(revision) } }]),
      ...(object === undefined ? [] : objectAttributes(object)),
    ],
    links: [
      ...others.map((each) => ({ traceId: traceIdOf(each.root, record), spanId: spanIdOf(each.id) })),
      ...(outside === undefined ? [] : [linkTo(outside)]),
    ],
    status: hasFailed ? { code: 2, message: outcome } : { code: 0 },
  }
}

const objectAttributes = ({ resource, namespace, name }: FlowObject): OtlpAttribute[] => [
  text('k8s.resource', resource),
  text('k8s.namespace.name', namespace),
  text('k8s.object.name', name),
]

/** The body of an ExportTraceServiceRequest. */
export const otlpRequest = (spans: readonly OtlpSpan[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: [text('service.name', 'coxswain')] },
      scopeSpans: [{ scope: { name: 'coxswain.flow' }, spans }],
    },
  ],
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

// Event: a report of a component about an object.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, message, microTime, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectReference } from './references.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { invalid } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const eventSeries = message('io.k8s.api.core.v1.EventSeries', {
  count: int32(1, { description: 'How often it occurred up to the last time.' }),
  lastObservedTime: microTime(2, { description: 'When it occurred last.' }),
})
export interface EventSeries extends Infer<typeof eventSeries> {}

export const eventSource = message('io.k8s.api.core.v1.EventSource', {
  component: string(1, { description: 'The component that reports the event.' }),
  host: string(2, { description: 'The node of the component.' }),
})
export interface EventSource extends Infer<typeof eventSource> {}

export const eventMessage = message(
  'io.k8s.api.core.v1.Event',
  {
    metadata: struct(1, objectMeta, {
      required: true,
      description: 'The name, namespace, labels, annotations and other standard metadata of the object.',
    }),
    involvedObject: struct(2, objectReference, { required: true, description: 'The object that the event is about.' }),
    reason: string(3, { description: 'The reason, as one word for programs.' }),
    message: string(4, { description: 'A description for people.' }),
    source: struct(5, eventSource, { description: 'The component and node that reported the event.' }),
    firstTimestamp: time(6, { description: 'When the event was first observed.' }),
    lastTimestamp: time(7, { description: 'When the event was last observed.' }),
    count: int32(8, { description: 'How often the event was observed.' }),
    type: string(9, { description: 'Normal or Warning.' }),
    eventTime: microTime(10, { description: 'When the event was first observed, in microseconds.' }),
    series: struct(11, eventSeries, {
      pointer: true,
      description: 'The series of a repeated event; absent for a single one.',
    }),
    action: string(12, { description: 'The action that was taken or that failed.' }),
    related: struct(13, objectReference, { pointer: true, description: 'A second object that is involved.' }),
    reportingComponent: string(14, { keepEmpty: true, description: 'The controller that reported the event.' }),
    reportingInstance: string(15, { keepEmpty: true, description: 'The instance of the controller.' }),
  },
  'A report of a component about an object, retained for a limited time.',
)
export interface Event extends ObjectOf<typeof eventMessage> {}
export type EventInput = InputOf<typeof eventMessage>

const hourMs = 3_600_000

const lastSeen = (event: Event): string | null | undefined =>
  event.series?.lastObservedTime ?? event.lastTimestamp ?? event.firstTimestamp ?? event.eventTime

export const event = defineKind<Event, EventInput>({
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  message: eventMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  ttlMs: hourMs,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate({ metadata, involvedObject }) {
    const expected = involvedObject.namespace ?? 'default'
    return metadata.namespace === expected
      ? []
      : [invalid('involvedObject.namespace', involvedObject.namespace ?? '', 'does not match event.namespace')]
  },
  validateUpdate: () => [],
  columns: [
    column('Last Seen', (object, nowMs) => ageText(lastSeen(object), nowMs)),
    column('Type', ({ type }) => type ?? ''),
    column('Reason', ({ reason }) => reason ?? ''),
    column('Object', ({ involvedObject: { kind, name = '' } }) => (kind ? `${kind.toLowerCase()}/${name}` : name)),
    column('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? '', { priority: 1 }),
    column(
      'Source',
      ({ source, reportingComponent }) =>
        [source.component ?? reportingComponent ?? '', source.host].filter(Boolean).join(', '),
      { priority: 1 },
    ),
    column('Message', ({ message: text }) => text?.trim() ?? ''),
    column('First Seen', ({ firstTimestamp, eventTime }, nowMs) => ageText(firstTimestamp ?? eventTime, nowMs), {
      priority: 1,
    }),
    column('Count', ({ count, series }) => series?.count ?? (count || 1), { priority: 1 }),
    column('Name', ({ metadata }) => metadata.name, { priority: 1, format: 'name' }),
  ],
  fieldLabels: {
    'involvedObject.kind': ({ involvedObject }) => involvedObject.kind ?? '',
    'involvedObject.namespace': ({ involvedObject }) => involvedObject.namespace ?? '',
    'involvedObject.name': ({ involvedObject }) => involvedObject.name ?? '',
    'involvedObject.uid': ({ involvedObject }) => involvedObject.uid ?? '',
    'involvedObject.apiVersion': ({ involvedObject }) => involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': ({ involvedObject }) => involvedObject.fieldPath ?? '',
    reason: ({ reason }) => reason ?? '',
    reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
    source: ({ source, reportingComponent }) => source.component ?? reportingComponent ?? '',
    type: ({ type }) => type ?? '',
  },
})

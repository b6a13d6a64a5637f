// Event of events.k8s.io: the events of the core group with newer field names. They are stored in the core form.
import { lookup } from '../../../base/collections/lookup.ts'
import { event as coreEvent, eventSource, type Event as CoreEvent } from '../../core/v1/event.ts'
import { objectReference } from '../../core/v1/references.ts'
import { defineKind } from '../../kind/kind.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import type { ApiObject, InputOf, ObjectOf } from '../../meta/object.ts'
import { int32, message, microTime, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'

export const eventSeries = message('io.k8s.api.events.v1.EventSeries', {
  count: int32(1, { required: true, description: 'How often it occurred up to the last time.' }),
  lastObservedTime: microTime(2, { required: true, description: 'When it occurred last.' }),
})
export interface EventSeries extends Infer<typeof eventSeries> {}

export const eventMessage = message(
  'io.k8s.api.events.v1.Event',
  {
    metadata: objectMetaField,
    eventTime: microTime(2, { required: true, description: 'When the event was first observed.' }),
    series: struct(3, eventSeries, {
      pointer: true,
      description: 'The series of a repeated event; absent for a single one.',
    }),
    reportingController: string(4, { description: 'The controller that reported the event.' }),
    reportingInstance: string(5, { description: 'The instance of the controller.' }),
    action: string(6, { description: 'The action that was taken or that failed.' }),
    reason: string(7, { description: 'The reason, as one word for programs.' }),
    regarding: struct(8, objectReference, { description: 'The object that the event is about.' }),
    related: struct(9, objectReference, { pointer: true, description: 'A second object that is involved.' }),
    note: string(10, { description: 'A description for people.' }),
    type: string(11, { description: 'Normal or Warning.' }),
    deprecatedSource: struct(12, eventSource, { description: 'The source in events of the core group.' }),
    deprecatedFirstTimestamp: time(13, { description: 'The firstTimestamp in events of the core group.' }),
    deprecatedLastTimestamp: time(14, { description: 'The lastTimestamp in events of the core group.' }),
    deprecatedCount: int32(15, { description: 'The count in events of the core group.' }),
  },
  'A report of a component about an object, retained for a limited time.',
)
export interface Event extends ObjectOf<typeof eventMessage> {}
export type EventInput = InputOf<typeof eventMessage>

/** The core field of each renamed field of this version; all others have the same name in both. */
const coreNames: Readonly<Record<string, string>> = {
  deprecatedCount: 'count',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedSource: 'source',
  note: 'message',
  regarding: 'involvedObject',
  reportingController: 'reportingComponent',
}
const ownNames = Object.fromEntries(Object.entries(coreNames).map(([own, core]) => [core, own]))

const renamed = (object: object, names: Readonly<Record<string, string>>, apiVersion: string): ApiObject =>
  ({
    ...Object.fromEntries(
      Object.entries(object).map(([name, value]) => [lookup(names, name) ?? name, value as unknown]),
    ),
    apiVersion,
  }) as unknown as ApiObject

const toCore = (object: ApiObject): CoreEvent => renamed(object, coreNames, coreEvent.apiVersion) as CoreEvent

const regardingFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const fieldLabels = {
  reason: 'reason',
  reportingController: 'reportingComponent',
  type: 'type',
  ...Object.fromEntries(regardingFields.map((field) => [`regarding.${field}`, `involvedObject.${field}`])),
}

export const eventsEvent = defineKind<Event, EventInput>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  message: eventMessage,
  hasStatus: false,
  countsGenerations: false,
  storedAs: {
    kind: coreEvent,
    toStored: toCore,
    fromStored: (stored) => renamed(stored, ownNames, 'events.k8s.io/v1') as Event,
    fieldLabels,
  },
  validateName: (name) => coreEvent.validateName(name),
  applyDefaults: (object) => object,
  validate: (object) => coreEvent.validate(toCore(object)),
  validateUpdate: (object, old) => coreEvent.validateUpdate(toCore(object), toCore(old)),
  columns: coreEvent.columns.map((column) => ({
    ...column,
    cell: (object, nowMs) => column.cell(toCore(object), nowMs),
  })),
  fieldLabels: {},
})

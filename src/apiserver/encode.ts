// encode: answers as JSON text, as objects, Tables or metadata alone. Stored objects bring their text along.
import type { Kind } from '../api/kind.ts'
import type { ApiObject } from '../api/object.ts'
import type { ListAnswer, WatchEvent } from './answer.ts'
import type { AnswerForm } from './media-type.ts'
import type { Stored } from './stored.ts'
import { partialMetadata, tableOf, type IncludeObject } from './table.ts'

export interface EncodeOptions {
  readonly form: AnswerForm
  readonly include: IncludeObject
  readonly nowMs: number
}

export function encodeObject(object: object, kind: Kind | undefined, { form, include, nowMs }: EncodeOptions): string {
  if (kind === undefined || form.shape === 'object') return JSON.stringify(object)
  const typed = object as ApiObject
  if (form.shape === 'metadata') return JSON.stringify(partialMetadata(typed))
  const { resourceVersion } = typed.metadata
  return JSON.stringify(tableOf(kind, [typed], { resourceVersion }, { include, nowMs, withColumns: true }))
}

export function encodeList(
  { of: kind, items, revision, continueToken, remaining }: ListAnswer,
  { form, include, nowMs }: EncodeOptions,
): string {
  const metadata = {
    resourceVersion: String(revision),
    ...(continueToken === '' ? {} : { continue: continueToken }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  }
  switch (form.shape) {
    case 'table':
      return JSON.stringify(
        tableOf(
          kind,
          items.map(({ object }) => object),
          metadata,
          { include, nowMs, withColumns: true },
        ),
      )
    case 'metadata': {
      const partial = items.map(({ object }) => partialMetadata(object))
      return JSON.stringify({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
        items: partial,
      })
    }
    case 'object': {
      const head = `{"kind":"${kind.kind}List","apiVersion":"${kind.apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`
      return `${head}${items.map(({ jsonRest }) => `{${jsonRest}`).join(',')}]}`
    }
    default:
      return form.shape satisfies never
  }
}

export async function* encodeWatch(
  events: AsyncIterable<WatchEvent>,
  kind: Kind,
  options: EncodeOptions,
): AsyncIterable<string> {
  let withColumns = true
  for await (const event of events) {
    yield `${encodeEvent(event, kind, options, withColumns)}\n`
    withColumns = false
  }
}

function encodeEvent(event: WatchEvent, kind: Kind, options: EncodeOptions, withColumns: boolean): string {
  switch (event.type) {
    case 'ERROR':
      return JSON.stringify({ type: 'ERROR', object: event.status })
    case 'BOOKMARK':
      return JSON.stringify({
        type: 'BOOKMARK',
        object: bookmarkOf(kind, event.revision, event.initialEventsEnd, options),
      })
    default:
      return `{"type":"${event.type}","object":${encodeStored(event.stored, kind, options, withColumns)}}`
  }
}

function encodeStored(
  stored: Stored,
  kind: Kind,
  { form, include, nowMs }: EncodeOptions,
  withColumns: boolean,
): string {
  if (form.shape === 'object') return stored.json
  if (form.shape === 'metadata') return JSON.stringify(partialMetadata(stored.object))
  const metadata = { resourceVersion: String(stored.revision) }
  return JSON.stringify(tableOf(kind, [stored.object], metadata, { include, nowMs, withColumns }))
}

function bookmarkOf(
  kind: Kind,
  revision: number,
  isInitialEnd: boolean,
  { form, include, nowMs }: EncodeOptions,
): object {
  const metadata = {
    resourceVersion: String(revision),
    creationTimestamp: null,
    ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  }
  if (form.shape === 'metadata') return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
  if (form.shape === 'table') return tableOf(kind, [], metadata, { include, nowMs, withColumns: false })
  return { kind: kind.kind, apiVersion: kind.apiVersion, metadata }
}

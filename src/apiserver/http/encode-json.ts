// Responses as JSON: objects, Tables or metadata. Stored objects have cached bytes.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ListResponse } from '../request/response.ts'
import type { ResponseFormat } from './media-type.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { bookmarkTable, metaVersion, partialMetadata, tableOf, type IncludeObjectPolicy } from './table.ts'
import type { WatchEvent } from '../watch-cache/watch-event.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

export interface EncodeOptions {
  readonly form: ResponseFormat
  readonly include: IncludeObjectPolicy
  readonly nowMs: number
}

const encoder = new TextEncoder()
const encoded = (value: object): Uint8Array => encoder.encode(jsonText(value))

export function encodeObject(
  object: object,
  kind: Kind | undefined,
  stored: StoredObject | undefined,
  { form, include, nowMs }: EncodeOptions,
): Uint8Array {
  if (kind === undefined || form.shape === 'object') return stored?.json ?? encoded(object)
  const typed = object as ApiObject
  if (form.shape === 'metadata') return encoded(partialMetadata(typed, form.version))
  const { resourceVersion } = typed.metadata
  return encoded(
    tableOf(kind, [typed], { resourceVersion }, { include, nowMs, withColumns: true, version: form.version }),
  )
}

const listMetadata = ({ revision, continueToken, remaining }: ListResponse, withToken = false): object => ({
  resourceVersion: String(revision),
  ...(continueToken === '' && !withToken ? {} : { continue: continueToken }),
  ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
})

/** The JSON of a list up to its first item. */
export function listStart(response: ListResponse): Uint8Array {
  const { kind, apiVersion, custom } = response.objectKind
  const listKind = custom?.listKind ?? `${kind}List`
  // Upstream writes the token of a list of custom objects even if there is none.
  const metadata = JSON.stringify(listMetadata(response, custom !== undefined))
  return encoder.encode(`{"kind":"${listKind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":[`)
}

export function encodeList(response: ListResponse, { form, include, nowMs }: EncodeOptions): Uint8Array {
  const { objectKind: kind, items } = response
  const metadata = listMetadata(response)
  switch (form.shape) {
    case 'table':
      return encoded(
        tableOf(
          kind,
          items.map(({ object }) => object),
          metadata,
          { include, nowMs, withColumns: true, version: form.version },
        ),
      )
    case 'metadata': {
      const partial = items.map(({ object }) => partialMetadata(object, form.version))
      return encoded({
        kind: 'PartialObjectMetadataList',
        apiVersion: metaVersion(form.version),
        metadata,
        items: partial,
      })
    }
    case 'object':
      return joinedItems(
        listStart(response),
        items.map((item) => itemJson(kind, item)),
        listEnd,
      )
    default:
      return form.shape satisfies never
  }
}

const openBrace = 0x7b
const comma = 0x2c
export const listEnd = encoder.encode(']}')

/** An item after its opening brace. In lists of custom objects it has its type. */
export const itemJson = ({ custom }: Kind, item: StoredObject): Uint8Array =>
  custom === undefined ? item.jsonWithoutType : item.json.subarray(1)

/** The head, the items separated by commas, each after its opening brace, and the end. */
export function joinedItems(
  head: Uint8Array,
  items: readonly Uint8Array[],
  end: Uint8Array,
  isContinued = false,
): Uint8Array {
  const separators = items.length + Math.max(items.length - (isContinued ? 0 : 1), 0)
  const size = items.reduce((sum, rest) => sum + rest.length, head.length + separators + end.length)
  const whole = new Uint8Array(size)
  whole.set(head)
  let at = head.length
  for (const [index, rest] of items.entries()) {
    if (index > 0 || isContinued) whole[at++] = comma
    whole[at++] = openBrace
    whole.set(rest, at)
    at += rest.length
  }
  whole.set(end, at)
  return whole
}

/** `withColumns`: the first event of a Table includes the column definitions. */
export function encodeEvent(event: WatchEvent, kind: Kind, options: EncodeOptions, withColumns: boolean): Uint8Array {
  switch (event.type) {
    case 'ERROR':
      return line('ERROR', encoded(event.status))
    case 'BOOKMARK':
      return line('BOOKMARK', encoded(bookmarkOf(kind, event, options, withColumns)))
    default:
      return line(
        event.type,
        options.form.shape === 'object'
          ? event.stored.json
          : encoded(shapedOf(event.stored, kind, options, withColumns)),
      )
  }
}

const lineEnd = encoder.encode('}\n')

function line(type: WatchEvent['type'], object: Uint8Array): Uint8Array {
  const head = encoder.encode(`{"type":"${type}","object":`)
  const whole = new Uint8Array(head.length + object.length + lineEnd.length)
  whole.set(head)
  whole.set(object, head.length)
  whole.set(lineEnd, head.length + object.length)
  return whole
}

function shapedOf(
  { object, revision }: StoredObject,
  kind: Kind,
  { form, include, nowMs }: EncodeOptions,
  withColumns: boolean,
): object {
  if (form.shape === 'metadata') return partialMetadata(object, form.version)
  return tableOf(
    kind,
    [object],
    { resourceVersion: String(revision) },
    { include, nowMs, withColumns, version: form.version },
  )
}

function bookmarkOf(
  kind: Kind,
  { revision, initialEventsEnd }: Extract<WatchEvent, { type: 'BOOKMARK' }>,
  { form, include, nowMs }: EncodeOptions,
  withColumns: boolean,
): object {
  const resourceVersion = String(revision)
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  const metadata = { resourceVersion, ...annotations }
  if (form.shape === 'metadata') return partialMetadata({ metadata }, form.version)
  if (form.shape === 'table')
    return bookmarkTable(kind, metadata, resourceVersion, { include, nowMs, withColumns, version: form.version })
  return { kind: kind.kind, apiVersion: kind.apiVersion, metadata }
}

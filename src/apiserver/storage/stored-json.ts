// The JSON of an object as the store has it: kind, apiVersion and metadata come first, and the metadata has no
// resourceVersion, because the store assigns it with the commit. Readers get the resourceVersion as the first field of the
// metadata, so it can be inserted without parsing.
import type { ApiObject } from '../../api/meta/object.ts'
import { without } from '../../schema/json/json-value.ts'
import { objectJson } from './object-json.ts'
import { parseJson } from '../../schema/json/exact-json.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes)

export const parseObject = (bytes: Uint8Array): ApiObject => parseJson(decoder.decode(bytes)) as ApiObject

/** The JSON of an object with or without a resourceVersion, as the store has it. */
export const storedText = (object: ApiObject): string => objectJson(asStored(object))

export const storedBytes = (object: ApiObject): Uint8Array => encoder.encode(storedText(object))

/** The object without its resourceVersion, in the store's order of fields. */
export function asStored(object: ApiObject): ApiObject {
  const metadata = without(object.metadata, 'resourceVersion')
  if (startsInStoredOrder(object)) return metadata === object.metadata ? object : ({ ...object, metadata } as ApiObject)
  const { kind, apiVersion, metadata: _, ...rest } = object
  return { kind, apiVersion, metadata, ...rest } as ApiObject
}

const storedOrder = ['kind', 'apiVersion', 'metadata']

function startsInStoredOrder(object: ApiObject): boolean {
  let at = 0
  for (const name in object) {
    if (name !== storedOrder[at]) return false
    if (++at === storedOrder.length) return true
  }
  return false
}

/** The object as readers see it. A revision of 0 means that it was never stored and has no resourceVersion. */
export const withVersion = (object: ApiObject, revision: number): ApiObject =>
  revision === 0 ? object : { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }

const metadataKey = encoder.encode('"metadata":{')
const openBrace = 0x7b
const closeBrace = 0x7d

/** The position after the brace that opens the metadata. Names of kinds and versions have no braces, so it is the second. */
const metadataStart = (bytes: Uint8Array): number => bytes.indexOf(openBrace, 1) + 1

/** Stored bytes with the resourceVersion in them. */
export function withVersionBytes(bytes: Uint8Array, revision: number): Uint8Array {
  const start = metadataStart(bytes)
  if (!isMetadata(bytes, start)) return withVersionBytes(storedBytes(parseObject(bytes)), revision)
  if (revision === 0) return bytes
  const isEmpty = bytes[start] === closeBrace
  const version = `"resourceVersion":"${revision}"${isEmpty ? '' : ','}`
  const whole = new Uint8Array(bytes.length + version.length)
  whole.set(bytes, version.length)
  whole.set(bytes.subarray(0, start))
  encoder.encodeInto(version, whole.subarray(start))
  return whole
}

function isMetadata(bytes: Uint8Array, start: number): boolean {
  for (let index = 1; index <= metadataKey.length; index++)
    if (bytes[start - index] !== metadataKey[metadataKey.length - index]) return false
  return true
}

/** The bytes after kind and apiVersion: items of a list have neither. The caller writes the opening brace. */
export const withoutType = (json: Uint8Array): Uint8Array => json.subarray(metadataStart(json) - metadataKey.length)

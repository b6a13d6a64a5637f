// Embedded resources: objects with kind, apiVersion and metadata inside of a custom object. Their metadata is decoded like
// that of every object: unknown fields are dropped, and values of a wrong type are errors of decoding.
import { setOwn } from '../../../base/collections/lookup.ts'
import { jsonCopy } from '../../../base/collections/json-copy.ts'
import { decode, DecodeError } from '../../../schema/decoding/decode.ts'
import {
  equalValues,
  isJsonObject,
  withSortedKeys,
  type JsonObject,
  type JsonValue,
} from '../../../schema/json/json-value.ts'
import { fieldErrorText, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { joined } from './list-type-rules.ts'
import type { SchemaNode } from './schema-node.ts'

/** A field of an embedded resource has a wrong type. */
export class EmbeddedFieldError extends DecodeError {
  override name = 'EmbeddedFieldError'
  readonly fieldError: FieldError

  constructor(fieldError: FieldError) {
    super(fieldErrorText(fieldError))
    this.fieldError = fieldError
  }
}

const wrongField = (path: string, value: JsonValue, why: string): EmbeddedFieldError =>
  new EmbeddedFieldError(invalid(path, withSortedKeys(value), why))

interface Decoding {
  /** Gets the paths of unknown fields. */
  readonly unknown: string[]
  /** Fields of a wrong type are removed, because the object was stored with another schema. */
  readonly isStored: boolean
}

/**
 * Decodes the metadata of all embedded resources in a value. Throws a DecodeError, unless the object was stored. Returns
 * the same value when nothing changed.
 */
export function decodeEmbedded(value: JsonValue, node: SchemaNode, path: string, decoding: Decoding): JsonValue {
  if (Array.isArray(value)) return decodedItems(value as readonly JsonValue[], node.items, path, decoding)
  if (!isJsonObject(value)) return value
  let copy: Record<string, JsonValue | undefined> | undefined
  for (const [name, item] of Object.entries(value)) {
    const next = item === undefined ? undefined : decodedProperty(name, item, node, path, decoding)
    if (next === item) continue
    copy ??= { ...value }
    if (next === undefined) delete copy[name] // safe name: removes an own property only
    else setOwn(copy, name, next)
  }
  return copy ?? value
}

/** Undefined: the property is removed. */
function decodedProperty(
  name: string,
  value: JsonValue,
  node: SchemaNode,
  path: string,
  decoding: Decoding,
): JsonValue | undefined {
  if (path !== '' && node.isResource && isResourceField(name)) return decodedField(name, value, path, decoding)
  const property = node.properties.get(name)
  if (property !== undefined) return decodeEmbedded(value, property, joined(path, name), decoding)
  return node.additional === undefined ? value : decodeEmbedded(value, node.additional, `${path}[${name}]`, decoding)
}

function decodedItems(
  list: readonly JsonValue[],
  items: SchemaNode | undefined,
  path: string,
  decoding: Decoding,
): readonly JsonValue[] {
  if (items === undefined) return list
  let copy: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    const next = decodeEmbedded(item, items, `${path}[${index}]`, decoding)
    if (next !== item) (copy ??= [...list])[index] = next
  }
  return copy ?? list
}

const isResourceField = (name: string): boolean => name === 'kind' || name === 'apiVersion' || name === 'metadata'

function decodedField(name: string, value: JsonValue, path: string, decoding: Decoding): JsonValue | undefined {
  const at = `${path}.${name}`
  if (name === 'metadata') return decodedMetadata(value, at, decoding)
  if (typeof value === 'string') return value
  if (decoding.isStored) return undefined
  throw wrongField(at, value, 'must be a string')
}

/** Why a value cannot be the metadata of a resource. */
export function metadataProblem(value: JsonValue): string | undefined {
  try {
    decodedMetadata(value, 'metadata', { unknown: [], isStored: false })
    return undefined
  } catch (error) {
    if (!(error instanceof EmbeddedFieldError)) throw error
    return error.message
  }
}

function decodedMetadata(value: JsonValue, path: string, { unknown, isStored }: Decoding): JsonValue {
  try {
    const { value: metadata, unknownFields } = decode(objectMeta, value ?? {})
    for (const field of unknownFields) unknown.push(`${path}.${field}`)
    // Empty maps are decoded to undefined.
    return equalValues(metadata, value) ? value : (jsonCopy(metadata) as JsonObject)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (isStored) return isJsonObject(value) ? decodableFields(value) : {}
    throw wrongField(path, value, firstError(value) ?? error.message)
  }
}

/** Upstream decodes fields in the order of their names, and reports the first error. */
function firstError(value: JsonValue): string | undefined {
  try {
    decode(objectMeta, withSortedKeys(value))
    return undefined
  } catch (error) {
    return error instanceof DecodeError ? error.message : undefined
  }
}

/** The fields of metadata that can be decoded, each by itself. */
function decodableFields(metadata: JsonObject): JsonObject {
  const kept: Record<string, JsonValue | undefined> = {}
  for (const [name, value] of Object.entries(metadata)) {
    try {
      Object.assign(kept, decode(objectMeta, { [name]: value }).value)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
    }
  }
  return jsonCopy(kept) as JsonObject
}

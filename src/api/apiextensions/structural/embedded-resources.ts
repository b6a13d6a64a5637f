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
import { fieldErrorText, invalid } from '../../../schema/validation/field-error.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { joined } from './list-type-rules.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Decodes the metadata of all embedded resources in a value. `unknown` gets the paths of unknown fields. Throws a DecodeError.
 * Returns the same value when nothing changed.
 */
export function decodeEmbedded(value: JsonValue, node: SchemaNode, path: string, unknown: string[]): JsonValue {
  if (Array.isArray(value)) return decodedItems(value as readonly JsonValue[], node.items, path, unknown)
  if (!isJsonObject(value)) return value
  let copy: Record<string, JsonValue | undefined> | undefined
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue
    const property = node.properties.get(name)
    const child = property ?? node.additional
    const next =
      path !== '' && node.isResource && isResourceField(name)
        ? decodedField(name, item, path, unknown)
        : child === undefined
          ? item
          : decodeEmbedded(item, child, property === undefined ? `${path}[${name}]` : joined(path, name), unknown)
    if (next !== item) setOwn((copy ??= { ...value }), name, next)
  }
  return copy ?? value
}

function decodedItems(
  list: readonly JsonValue[],
  items: SchemaNode | undefined,
  path: string,
  unknown: string[],
): readonly JsonValue[] {
  if (items === undefined) return list
  let copy: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    const next = decodeEmbedded(item, items, `${path}[${index}]`, unknown)
    if (next !== item) (copy ??= [...list])[index] = next
  }
  return copy ?? list
}

const isResourceField = (name: string): boolean => name === 'kind' || name === 'apiVersion' || name === 'metadata'

function decodedField(name: string, value: JsonValue, path: string, unknown: string[]): JsonValue {
  const at = `${path}.${name}`
  if (name === 'metadata') return decodedMetadata(value, at, unknown)
  if (typeof value !== 'string') throw wrongField(at, value, 'must be a string')
  return value
}

function decodedMetadata(value: JsonValue, path: string, unknown: string[]): JsonValue {
  try {
    const { value: metadata, unknownFields } = decode(objectMeta, value ?? {})
    for (const field of unknownFields) unknown.push(`${path}.${field}`)
    // Empty maps are decoded to undefined.
    return equalValues(metadata, value) ? value : (jsonCopy(metadata) as JsonObject)
  } catch (error) {
    throw error instanceof DecodeError ? wrongField(path, value, error.message) : error
  }
}

const wrongField = (path: string, value: JsonValue, why: string): DecodeError =>
  new DecodeError(fieldErrorText(invalid(path, withSortedKeys(value), why)))

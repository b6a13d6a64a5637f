// Rules of embedded resources: they have an apiVersion and a kind, and valid metadata. They are not ratcheted.
import { append } from '../../../base/collections/append.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import type { ManagedFieldsEntry } from '../../meta/v1/object-meta.ts'
import type { ObjectMetaInput } from '../../meta/object.ts'
import { validateMetadataFields, withoutLastDash } from '../../validation/metadata-rules.ts'
import { dns1035LabelErrors, dnsLabelErrors, pathSegmentErrors } from '../../validation/names.ts'
import { joined } from './list-type-rules.ts'
import type { SchemaNode } from './schema-node.ts'

/** Adds the errors of all embedded resources in a value. */
export function validateEmbedded(value: JsonValue, node: SchemaNode, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    if (node.items !== undefined)
      for (const [index, item] of (value as readonly JsonValue[]).entries())
        validateEmbedded(item, node.items, `${path}[${index}]`, errors)
    return
  }
  if (!isJsonObject(value)) return
  if (node.isResource && path !== '') append(errors, resourceErrors(value, path))
  for (const [name, item] of Object.entries(value)) {
    const property = node.properties.get(name)
    const child = property ?? node.additional
    if (child === undefined || typeof item !== 'object' || item === null) continue
    validateEmbedded(item, child, property === undefined ? `${path}[${name}]` : joined(path, name), errors)
  }
}

const resourceErrors = ({ apiVersion, kind, metadata }: JsonObject, path: string): FieldError[] => [
  ...apiVersionErrors(apiVersion, `${path}.apiVersion`),
  ...kindErrors(kind, `${path}.kind`),
  ...(isJsonObject(metadata) ? metadataErrors(metadata, `${path}.metadata`) : []),
]

function apiVersionErrors(value: JsonValue | undefined, path: string): FieldError[] {
  if (typeof value !== 'string') return [required(path)]
  if (value === '') return [invalid(path, value, 'must not be empty')]
  if (value.split('/', 3).length < 3) return []
  return [invalid(path, value, `unexpected GroupVersion string: ${value}`)]
}

function kindErrors(value: JsonValue | undefined, path: string): FieldError[] {
  if (typeof value !== 'string') return [required(path)]
  if (value === '') return [invalid(path, value, 'must not be empty')]
  return dns1035LabelErrors(value.toLowerCase()).map((detail) =>
    invalid(path, value, `may have mixed case, but should otherwise match: ${detail}`),
  )
}

/** A name and a namespace are not required. */
function metadataErrors(metadata: ObjectMetaInput, path: string): FieldError[] {
  const { generateName = '', name = '', namespace = '', managedFields = [] } = metadata
  return [
    ...pathSegmentErrors(withoutLastDash(generateName)).map((why) =>
      invalid(`${path}.generateName`, generateName, why),
    ),
    ...pathSegmentErrors(name).map((why) => invalid(`${path}.name`, name, why)),
    ...(namespace === '' ? [] : dnsLabelErrors(namespace)).map((why) => invalid(`${path}.namespace`, namespace, why)),
    ...validateMetadataFields(metadata, path),
    ...managedFields.flatMap((entry, index) => managedFieldsErrors(entry, `${path}.managedFields[${index}]`)),
  ]
}

function managedFieldsErrors(
  { operation = '', fieldsType = '' }: Partial<ManagedFieldsEntry>,
  path: string,
): FieldError[] {
  return [
    ...(operation === 'Apply' || operation === 'Update'
      ? []
      : [invalid(`${path}.operation`, operation, 'must be `Apply` or `Update`')]),
    ...(fieldsType === '' || fieldsType === 'FieldsV1'
      ? []
      : [invalid(`${path}.fieldsType`, fieldsType, 'must be `FieldsV1`')]),
  ]
}

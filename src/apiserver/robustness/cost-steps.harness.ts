// For the cost test: what the server computes from an object between its bytes and those of the response, step by step.
import type { Kind } from '../../api/kind/kind.ts'
import { validateMetadata, validateMetadataUpdate } from '../../api/validation/metadata-rules.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { invalidObject } from '../../api/errors/status-error.ts'
import { structureOf } from '../../schema/apply/structure.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'
import { jsonPatch, type JsonPatchOperation } from '../../schema/patch/json-patch.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../schema/json/json-value.ts'
import { mergePatch } from '../../schema/patch/merge-patch.ts'
import { decodeProtobuf } from '../../schema/protobuf/protobuf-decode.ts'
import { encodeProtobuf } from '../../schema/protobuf/protobuf-encode.ts'
import { strategicMerge } from '../../schema/patch/strategic-merge.ts'
import { validateFields } from '../../schema/validation/validate.ts'
import { applyConfiguration } from '../objects/server-side-apply.ts'
import { managedFieldsAfterUpdate, type ManagedFields, type FieldTracking } from '../objects/managed-fields.ts'

export interface Subject {
  readonly kind: Kind
  readonly body: JsonObject
  readonly object: ApiObject
  /** The same with all lists reversed. */
  readonly reversed: ApiObject
  readonly managed: ManagedFields
  readonly bytes: Uint8Array
}

const tracking = (kind: Kind, manager: string): FieldTracking => ({
  writer: { manager, apiVersion: kind.apiVersion, subresource: '' },
  view: () => ({ structure: structureOf(kind.message), convert: (object) => object }),
  ignored: [],
  nowMs: 0,
})

const asObject = (kind: Kind, body: JsonObject): ApiObject => {
  const { value } = decode(kind.message, body)
  const typed = { ...value, apiVersion: kind.apiVersion, kind: kind.kind } as unknown as ApiObject
  const object = kind.applyDefaults(withDefaults(kind.message, typed))
  return kind.complete?.(object) ?? object
}

export function subjectOf(kind: Kind, body: JsonObject): Subject {
  const object = asObject(kind, body)
  return {
    kind,
    body,
    object,
    reversed: asObject(kind, reversed(body) as JsonObject),
    managed: managedFieldsAfterUpdate([], {}, object, tracking(kind, 'one')),
    bytes: encodeProtobuf(kind.message, object),
  }
}

function reversed(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(reversed).toReversed()
  if (!isJsonObject(value)) return value ?? null
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, reversed(item)]))
}

const plain = (object: ApiObject): JsonObject => object as unknown as JsonObject

const refused = (kind: Kind, errors: readonly FieldError[]): unknown =>
  invalidObject(kind.group, kind.kind, 'x', errors).toStatus()

/** A strategic merge patch with an order directive for each merged list, as kubectl sends it. */
function ordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]): [string, JsonValue][] =>
      Array.isArray(item)
        ? [
            [name, item.map(ordered)],
            [`$setElementOrder/${name}`, item],
          ]
        : [[name, ordered(item ?? null)]],
    ),
  )
}

/** One operation for each item of each list and each entry of each object. */
function operations(value: JsonValue | undefined, path: string): JsonPatchOperation[] {
  if (Array.isArray(value))
    return value.flatMap((item: JsonValue, index): JsonPatchOperation[] => [
      { op: 'test', path: `${path}/${index}`, value: item },
      { op: 'add', path: `${path}/-`, value: item },
      ...operations(item, `${path}/${index}`),
    ])
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, item]): JsonPatchOperation[] => {
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return [{ op: 'replace', path: at, value: item ?? null }, ...operations(item, at)]
  })
}

type Steps = Readonly<Record<string, (subject: Subject) => unknown>>

/** Steps that are implemented by each kind. */
export const stepsOfKinds: Steps = {
  decode: ({ kind, body }) => asObject(kind, body),
  validate: ({ kind, object }) => refused(kind, [...validateFields(kind.message, object), ...kind.validate(object)]),
  'validate metadata': ({ kind, object }) => refused(kind, validateMetadata(object, kind)),
  'validate again': ({ kind, object, reversed: old }) => refused(kind, kind.validate(object, old)),
  'validate update': ({ kind, object, reversed: old }) => refused(kind, kind.validateUpdate(object, old)),
  'validate metadata update': ({ kind, object, reversed: old }) => refused(kind, validateMetadataUpdate(object, old)),
  'validate status update': ({ kind, object, reversed: old }) =>
    refused(kind, kind.validateStatusUpdate?.(object, old) ?? []),
  warnings: ({ kind, object }) => kind.warnings?.(object),
  table: ({ kind, object }) => kind.columns.map(({ cell }) => cell(object, 0)),
}

/** Steps that are derived from the schema. */
export const stepsOfTypes: Steps = {
  'managed fields': ({ kind, object, reversed: old, managed }) =>
    managedFieldsAfterUpdate(managed, old, object, tracking(kind, 'two')),
  apply: ({ kind, object, body, managed }) =>
    applyConfiguration(
      { ...object, metadata: { ...object.metadata, managedFields: managed } },
      reversed(body) as JsonObject,
      {
        ...tracking(kind, 'two'),
        structure: structureOf(kind.message),
        force: true,
      },
    ),
  protobuf: ({ kind, bytes }) => encodeProtobuf(kind.message, decodeProtobuf(kind.message, bytes)),
  'merge patch': ({ object, reversed: patch }) => mergePatch(plain(object), plain(patch)),
  'strategic patch': ({ kind, object, reversed: patch }) => strategicMerge(kind.message, plain(object), plain(patch)),
  'strategic patch with an order': ({ kind, object }) =>
    strategicMerge(kind.message, plain(object), ordered(plain(object)) as JsonObject),
  'JSON patch': ({ object }) => jsonPatch(plain(object), operations(plain(object), '')),
}

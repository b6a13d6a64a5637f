// The scale subresource of a custom kind: its replicas and its selector are at paths that the definition names.
import type { Scaling } from '../../kind/kind.ts'
import type { ApiObject } from '../../meta/object.ts'
import { lookup } from '../../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { goFloat } from '../../../schema/validation/go-float.ts'
import type { CustomResourceDefinitionVersion } from '../v1/custom-resource-definition-spec.ts'
import { fieldPathOf, withValueAt, type FieldPath } from './field-path.ts'
import { type Int64 } from '../../../schema/scalar/int64.ts'

export type ScaleDefinition = NonNullable<NonNullable<CustomResourceDefinitionVersion['subresources']>['scale']>

type Read<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'wrong'; readonly error: string }

const replicasMax = 2_147_483_647

export function customScaling(definition: ScaleDefinition): Scaling<ApiObject> {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = definition
  const spec = fieldPathOf(specReplicasPath)
  const status = fieldPathOf(statusReplicasPath)
  const selector = fieldPathOf(labelSelectorPath)
  const countAt = (object: ApiObject, path: FieldPath): number => {
    const count = integerAt(asJson(object), path)
    return count.kind === 'found' ? Number(count.value) : 0
  }
  return {
    replicas: (object) => countAt(object, spec),
    problem(object) {
      const count = integerAt(asJson(object), spec)
      if (count.kind === 'missing') return `the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`
      return count.kind === 'wrong' ? count.error : undefined
    },
    withReplicas: (object, replicas) => withValueAt(asJson(object), spec, replicas) as unknown as ApiObject,
    statusReplicas: (object) => countAt(object, status),
    selector(object) {
      const found = selector.length === 0 ? undefined : textAt(asJson(object), selector)
      return found?.kind === 'found' ? found.value : ''
    },
  }
}

/** The errors of the fields that the scale subresource reads. */
export function scaleErrors(definition: ScaleDefinition, object: JsonObject): readonly FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = definition
  return [
    ...countErrors(specReplicasPath, object),
    ...countErrors(statusReplicasPath, object),
    ...(labelSelectorPath === '' ? [] : selectorErrors(labelSelectorPath, object)),
  ]
}

function countErrors(path: string, object: JsonObject): readonly FieldError[] {
  const count = integerAt(object, fieldPathOf(path))
  if (count.kind === 'missing') return []
  if (count.kind === 'wrong') return [invalid(path, 0, count.error)]
  if (count.value < 0) return [invalid(path, count.value, 'should be a non-negative integer')]
  if (count.value > replicasMax) return [invalid(path, count.value, `should be less than or equal to ${replicasMax}`)]
  return []
}

function selectorErrors(path: string, object: JsonObject): readonly FieldError[] {
  const text = textAt(object, fieldPathOf(path))
  return text.kind === 'wrong' ? [invalid(path, '', text.error)] : []
}

const integerAt = (object: JsonObject, path: FieldPath): Read<Int64> =>
  typedAt(object, path, 'int64', (value) => typeof value === 'bigint' || Number.isInteger(value))

const textAt = (object: JsonObject, path: FieldPath): Read<string> =>
  typedAt(object, path, 'string', (value) => typeof value === 'string')

/** The value at a path. Errors are worded as those of upstream's accessors. */
function typedAt<T>(
  object: JsonObject,
  path: FieldPath,
  expected: string,
  isExpected: (value: JsonValue) => boolean,
): Read<T> {
  const wrong = (value: JsonValue, type: string): Read<T> => ({
    kind: 'wrong',
    error: `.${path.join('.')} accessor error: ${goText(value)} is of the type ${goTypeOf(value)}, expected ${type}`,
  })
  let value: JsonValue | undefined = object
  for (const name of path) {
    if (value === null) return { kind: 'missing' }
    if (!isJsonObject(value)) return wrong(value, 'map[string]interface{}')
    value = lookup(value, name)
    if (value === undefined) return { kind: 'missing' }
  }
  return isExpected(value) ? { kind: 'found', value: value as T } : wrong(value, expected)
}

function goTypeOf(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map[string]interface {}'
}

/** A value as Go prints it: `map[a:1]`, `[1 2]`. */
function goText(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : goFloat(value)
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `map[${entries.map(([name, each]) => `${name}:${goText(each)}`).join(' ')}]`
}

const asJson = (object: ApiObject): JsonObject => object as unknown as JsonObject

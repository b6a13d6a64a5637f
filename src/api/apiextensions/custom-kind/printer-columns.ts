// The columns of a custom kind: its name, and those of its definition, or its age where there are none.
import { ageText } from '../../columns/age.ts'
import { column, type Column } from '../../kind/kind.ts'
import type { ApiObject } from '../../meta/object.ts'
import type { JsonObject, JsonValue } from '../../../schema/json/json-value.ts'
import type { CustomResourceColumnDefinition } from '../v1/custom-resource-definition-spec.ts'
import { jsonPath } from './json-path.ts'

const ageColumn: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
}

export const printerColumns = (
  definitions: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column<ApiObject>[] => [
  column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
  ...(definitions === undefined || definitions.length === 0 ? [ageColumn] : definitions).map(printerColumn),
]

function printerColumn(definition: CustomResourceColumnDefinition): Column<ApiObject> {
  const { name, format = '', description, priority = 0, jsonPath: text } = definition
  const type = definition.type as Column<ApiObject>['type']
  const find = jsonPath(text)
  return {
    name,
    type,
    format,
    priority,
    description: description || `Custom resource definition column (in JSONPath format): ${text}`,
    cell(object, nowMs) {
      const found = find(object as unknown as JsonObject)
      return found.length === 0 ? null : cellOf(type, found, nowMs)
    },
  }
}

function cellOf(
  type: Column<ApiObject>['type'],
  found: readonly JsonValue[],
  nowMs: number,
): string | number | boolean | null {
  const [value] = found
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'string':
      return found.map(textOf).join(' ')
    case 'date':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? ageText(value, nowMs) : '<invalid>'
    default:
      return type satisfies never
  }
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

// The columns of a custom kind: its name, and those of its definition, or its age where there are none.
import { column, type Column } from '../../kind/kind.ts'
import type { ApiObject } from '../../meta/object.ts'
import type { JsonObject } from '../../../schema/json/json-value.ts'
import type { CustomResourceColumnDefinition } from '../v1/custom-resource-definition-spec.ts'
import { parseJsonPath, type JsonPath } from './json-path-parser.ts'
import { plainValue } from './json-path-comparison.ts'
import { selectByPath } from './json-path.ts'
import { printerCell } from './printer-cell.ts'

const nameDescription = 'The name of the object.'
const ageDescription = 'The time at which the object was created.'

const nameColumn: Column<ApiObject> = {
  ...column<ApiObject>('Name', ({ metadata }) => metadata.name, { format: 'name' }),
  description: nameDescription,
}

const ageColumn: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: ageDescription,
  jsonPath: '.metadata.creationTimestamp',
}

/** As in upstream, a path that cannot be parsed hides its column and all columns after it. */
export function printerColumns(
  definitions: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column<ApiObject>[] {
  const columns: Column<ApiObject>[] = [nameColumn]
  for (const definition of definitions === undefined || definitions.length === 0 ? [ageColumn] : definitions) {
    const path = parseJsonPath(definition.jsonPath)
    if (path === undefined) break
    columns.push(printerColumn(definition, path))
  }
  return columns
}

function printerColumn(definition: CustomResourceColumnDefinition, path: JsonPath): Column<ApiObject> {
  const { name, format = '', description, priority = 0, jsonPath } = definition
  const type = definition.type as Column<ApiObject>['type']
  return {
    name,
    type,
    format,
    priority,
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    cell(object, nowMs) {
      const [first] = selectByPath(path, object as unknown as JsonObject) ?? []
      return first === undefined ? null : printerCell(type, plainValue(first), nowMs)
    },
  }
}

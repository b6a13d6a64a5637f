// Paths into a schema, as in rules and selectable fields: `.spec.color`, `.metadata['name']`.
import { lookup } from '../../../base/collections/lookup.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'

export type ResolvedPath =
  | {
      readonly kind: 'found'
      readonly names: readonly string[]
      readonly schema: JsonSchemaProps
      /** The path in the form of field errors: `spec.labels[a]`. */
      readonly fieldPath: string
    }
  | { readonly kind: 'wrong'; readonly why: string }

const segment = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y
const notAField: ResolvedPath = { kind: 'wrong', why: 'does not refer to a valid field' }

export function resolveFieldPath(root: JsonSchemaProps, path: string): ResolvedPath {
  const names: string[] = []
  let fieldPath = ''
  let schema: JsonSchemaProps | undefined = root
  for (let at = 0; at < path.length; at = segment.lastIndex) {
    segment.lastIndex = at
    const found = segment.exec(path)
    if (found === null) return { kind: 'wrong', why: `expected [ or . but got: ${path.slice(at)}` }
    const name: string = found[1] ?? found[2]?.replaceAll(/\\(.)/g, '$1') ?? ''
    names.push(name)
    const isProperty: boolean = Object.hasOwn(schema.properties ?? {}, name)
    fieldPath += isProperty ? `${fieldPath === '' ? '' : '.'}${name}` : `[${name}]`
    schema = found[1] === undefined ? keyedSchema(schema, name) : lookup(schema.properties, name)
    if (schema === undefined) return notAField
  }
  return names.length === 0 ? notAField : { kind: 'found', names, schema, fieldPath }
}

const keyedSchema = (
  { additionalProperties, properties }: JsonSchemaProps,
  name: string,
): JsonSchemaProps | undefined =>
  lookup(properties, name) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)

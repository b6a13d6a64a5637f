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

/** A selectable field has no keys in brackets. */
export type PathNotation = 'dots' | 'dots and brackets'

const wrong = (why: string): ResolvedPath => ({ kind: 'wrong', why })
const notAField = wrong('does not refer to a valid field')
const segment = /\.([^.[\]]+|[.[\]])|\['((?:[^'\\]|\\[abfnrtv'\\])*)'\]/y
const token = /[^.[\]]+|\]/y

export function resolveFieldPath(
  root: JsonSchemaProps,
  path: string,
  notation: PathNotation = 'dots and brackets',
): ResolvedPath {
  const names: string[] = []
  let fieldPath = ''
  let schema: JsonSchemaProps | undefined = root
  for (let at = 0; at < path.length; at = segment.lastIndex) {
    if (path[at] === '[' && notation === 'dots') return wrong('array notation is not allowed')
    segment.lastIndex = at
    const found = segment.exec(path)
    if (found === null) return wrong(syntaxError(path, at))
    const name: string = found[1] ?? unescaped(found[2] ?? '')
    names.push(name)
    const isProperty: boolean = Object.hasOwn(schema.properties ?? {}, name)
    fieldPath += isProperty ? `${fieldPath === '' ? '' : '.'}${name}` : `[${name}]`
    schema = schemaAt(schema, name)
    if (schema === undefined) return notAField
  }
  return names.length === 0 ? notAField : { kind: 'found', names, schema, fieldPath }
}

function syntaxError(path: string, at: number): string {
  if (path[at] === '.') return 'unexpected end of JSON path'
  token.lastIndex = at
  return `expected [ or . but got: ${token.exec(path)?.[0] ?? path.slice(at)}`
}

const controlCharacters: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, character: string) => lookup(controlCharacters, character) ?? character)

const schemaAt = ({ additionalProperties, properties }: JsonSchemaProps, name: string): JsonSchemaProps | undefined =>
  lookup(properties, name) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)

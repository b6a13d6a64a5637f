// mergedExtensions: the OpenAPI v2 documents of extensions as one part. As in upstream, a definition that another document has
// with the same content is shared, and one with other content is renamed.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { openApi2, type OpenApiSchema } from '../../schema/openapi/openapi.ts'
import type { OpenApiV2Part } from './openapi-v2.ts'

type Definitions = Readonly<Record<string, OpenApiSchema>>

/** `known` are the definitions of this server. */
export function mergedExtensions(extensions: readonly OpenApiV2Part[], known: Definitions): OpenApiV2Part {
  const paths: Record<string, object> = {}
  const definitions: Record<string, OpenApiSchema> = {}
  const taken = (name: string): OpenApiSchema | undefined => lookup(definitions, name) ?? lookup(known, name)
  for (const extension of extensions) {
    const names = renamed(extension.definitions, taken)
    for (const [name, schema] of Object.entries(extension.definitions)) {
      const final = names.get(name) ?? name
      if (taken(final) === undefined) setOwn(definitions, final, withReferences(schema, names) as OpenApiSchema)
    }
    for (const [path, item] of Object.entries(extension.paths))
      if (lookup(paths, path) === undefined) setOwn(paths, path, withReferences(item, names) as object)
  }
  return { paths, definitions }
}

/** The new names of definitions whose names have another content already. */
function renamed(
  definitions: Definitions,
  taken: (name: string) => OpenApiSchema | undefined,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const [name, schema] of Object.entries(definitions)) {
    let free = name
    for (let version = 2; isOther(taken(free), schema); version++) free = `${name}_v${version}`
    if (free !== name) names.set(name, free)
  }
  return names
}

const isOther = (taken: OpenApiSchema | undefined, schema: OpenApiSchema): boolean =>
  taken !== undefined && !equalValues(taken, schema)

function withReferences(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each: unknown) => withReferences(each, names))
  const copy: Record<string, unknown> = {}
  for (const [key, each] of Object.entries(value)) {
    const target = key === '$ref' && typeof each === 'string' ? names.get(each.slice(openApi2.root.length)) : undefined
    setOwn(copy, key, target === undefined ? withReferences(each, names) : openApi2.root + target)
  }
  return copy
}

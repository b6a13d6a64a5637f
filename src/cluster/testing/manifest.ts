// Manifests: objects for tests, as YAML or as values, each with its kind.
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'

/** YAML with one or several documents, an object, or a list of objects. A List is replaced by its items. */
export type Manifest = string | object | readonly object[]

export interface ManifestObject {
  readonly kind: Kind
  readonly object: object
}

export async function manifestObjects(manifest: Manifest): Promise<readonly ManifestObject[]> {
  const values: readonly unknown[] =
    typeof manifest === 'string' ? await documentsIn(manifest) : Array.isArray(manifest) ? manifest : [manifest]
  return values.filter((value) => value !== null && value !== undefined).flatMap(objectsIn)
}

/** The parser is loaded on demand, because most tests pass values. */
async function documentsIn(text: string): Promise<readonly unknown[]> {
  const { run: yamlToJson } = await import('../../apiserver/http/yaml-to-json.ts')
  return text.split(/^---(?=\s|$).*$/m).map((document) => JSON.parse(yamlToJson(document).json) as unknown)
}

function objectsIn(value: unknown): readonly ManifestObject[] {
  const { apiVersion, kind: name, items } = value as { apiVersion?: unknown; kind?: unknown; items?: unknown }
  if (typeof value !== 'object' || typeof apiVersion !== 'string' || typeof name !== 'string')
    throw new Error(
      `a manifest needs an apiVersion and a kind; this one has ${JSON.stringify({ apiVersion, kind: name })}`,
    )
  if (name.endsWith('List') && Array.isArray(items)) return items.flatMap(objectsIn)
  const kind = kinds.find((each) => each.kind === name && each.apiVersion === apiVersion)
  if (kind === undefined)
    throw new Error(`no matches for kind ${JSON.stringify(name)} in version ${JSON.stringify(apiVersion)}`)
  return [{ kind, object: value as object }]
}

// Manifests: objects as YAML or as values.
import { parseJson } from '../../schema/json/exact-json.ts'
import { inlineYaml, type YamlParser } from '../../apiserver/http/yaml-parser.ts'

const { signal: neverAborted } = new AbortController()

/** YAML with one or several documents, an object, or a list of objects. A List is replaced by its items. */
export type Manifest = string | object | readonly object[]

export interface ManifestObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
}

export async function manifestObjects(manifest: Manifest): Promise<readonly ManifestObject[]> {
  const values: readonly unknown[] =
    typeof manifest === 'string' ? await documentsIn(manifest) : Array.isArray(manifest) ? manifest : [manifest]
  return values.filter((value) => value !== null && value !== undefined).flatMap(objectsIn)
}

/** The values of all documents; null for an empty one. The parser is loaded on demand, because most tests pass values. */
export async function documentsIn(
  text: string,
  yaml: YamlParser = inlineYaml,
  signal: AbortSignal = neverAborted,
): Promise<readonly unknown[]> {
  const documents: unknown[] = []
  for (const document of text.split(/^---(?=\s|$).*$/m)) {
    const { json } = await yaml.parse(document, signal)
    documents.push(parseJson(json))
  }
  return documents
}

export function objectsIn(value: unknown): readonly ManifestObject[] {
  const { apiVersion, kind, items } = value as { apiVersion?: unknown; kind?: unknown; items?: unknown }
  if (typeof value !== 'object' || typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new Error(`a manifest needs an apiVersion and a kind; this one has ${JSON.stringify({ apiVersion, kind })}`)
  return kind.endsWith('List') && Array.isArray(items) ? items.flatMap(objectsIn) : [value as ManifestObject]
}

// Manifests: objects as a test writes them, in YAML or as values, each with its kind.
import { kinds } from '../api/kinds.ts'
import type { Kind } from '../api/kind.ts'
import { run as yamlToJson } from '../apiserver/yaml-to-json.ts'

/** YAML of one or several documents, an object, or several; a List stands for its items. */
export type Manifest = string | object | readonly object[]

export interface ManifestObject {
  readonly kind: Kind
  readonly object: object
}

export function manifestObjects(manifest: Manifest): readonly ManifestObject[] {
  const values: readonly unknown[] =
    typeof manifest === 'string'
      ? manifest.split(/^---(?=\s|$).*$/m).map((text) => JSON.parse(yamlToJson(text).json) as unknown)
      : Array.isArray(manifest)
        ? manifest
        : [manifest]
  return values.filter((value) => value !== null && value !== undefined).flatMap(objectsIn)
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

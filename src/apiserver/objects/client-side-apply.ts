// Client-side apply: kubectl stores the configuration that it applied in an annotation. A user can switch from
// client-side to server-side apply, and back, without conflicts with themselves.
import { lookup } from '../../base/collections/lookup.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { annotationsTooLong } from '../../api/validation/names.ts'
import { appliedFields } from '../../schema/apply/applied-fields.ts'
import { checkApplied } from '../../schema/apply/check-applied.ts'
import { compare } from '../../schema/apply/compare.ts'
import { difference, emptySet, type FieldSet } from '../../schema/apply/field-set.ts'
import type { StructStructure } from '../../schema/apply/structure.ts'
import { isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'
import { sortedJson } from '../../schema/validation/sorted-json.ts'
import { parseJson } from '../../schema/json/exact-json.ts'

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The fields that were applied on the client side and have not changed since. */
export function clientSideFields(live: ApiObject, structure: StructStructure): FieldSet {
  const config = parsedObject(live.metadata.annotations?.[lastAppliedAnnotation] ?? '')
  if (config?.['apiVersion'] !== live.apiVersion || checkApplied(structure, config).length > 0) return emptySet
  const { changed, removed } = compare(structure, config, live)
  return difference(difference(appliedFields(structure, config), changed), removed)
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The object with the new configuration in the annotation, where the annotation exists. */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const metadata = objectIn(object, 'metadata')
  const annotations = objectIn(metadata, 'annotations')
  if (!annotations[lastAppliedAnnotation]) return object
  const { [lastAppliedAnnotation]: _, ...others } = annotations
  const written = { ...others, [lastAppliedAnnotation]: `${sortedJson(withoutAnnotation(config))}\n` }
  const isTooLong = annotationsTooLong(written)
  return { ...object, metadata: { ...metadata, annotations: isTooLong ? others : written } }
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const metadata = objectIn(config, 'metadata')
  if (metadata['annotations'] === undefined) return config
  const { [lastAppliedAnnotation]: _, ...annotations } = objectIn(metadata, 'annotations')
  return { ...config, metadata: { ...metadata, annotations } }
}

const objectIn = (object: JsonObject, name: string): JsonObject => {
  const value = lookup(object, name)
  return isJsonObject(value) ? value : {}
}

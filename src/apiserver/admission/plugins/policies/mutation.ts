// Applies the value of a mutation to an object: an apply configuration is merged by type, a JSON patch is executed.
import type { Kind } from '../../../../api/kind/kind.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { EvalError } from '../../../../cel/values/eval-error.ts'
import { toJson } from '../../../../cel/values/json-value-conversion.ts'
import type { Value } from '../../../../cel/values/value.ts'
import { checkApplied } from '../../../../schema/apply/check-applied.ts'
import { childStructure } from '../../../../schema/apply/compare.ts'
import { structureOf, type StructStructure, type Structure } from '../../../../schema/apply/structure.ts'
import { typedMerge } from '../../../../schema/apply/typed-merge.ts'
import { jsonPatch, type JsonPatchOperation } from '../../../../schema/patch/json-patch.ts'
import { equalValues, isJsonObject, type JsonObject, type JsonValue } from '../../../../schema/json/json-value.ts'
import { convertToVersion, convertToStored, type SubresourceObject } from '../../framework/subresource-object.ts'

export type PatchType = 'ApplyConfiguration' | 'JSONPatch'

/** The mutation could not be applied. */
export class MutationError extends Error {}

/** The same object if nothing changes; otherwise a new one, decoded and defaulted as if a client had sent it. */
export function applyMutation(
  object: ApiObject,
  kind: Kind,
  subresourceObject: SubresourceObject | undefined,
  patchType: PatchType,
  value: Value,
): ApiObject {
  const shown = convertToVersion(kind, subresourceObject, object) as unknown as JsonObject // objects are JSON
  try {
    const json = toJson(value)
    const changed =
      patchType === 'JSONPatch' ? patched(shown, json) : merged(shown, structureFor(kind, subresourceObject), json)
    return equalValues(changed, shown) ? object : convertToStored(kind, subresourceObject, changed)
  } catch (error) {
    if (error instanceof EvalError || error instanceof MutationError) throw new MutationError(error.message)
    throw new MutationError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function patched(object: JsonObject, operations: unknown): JsonValue {
  if (!Array.isArray(operations))
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array')
  // jsonPatch rejects invalid operations.
  return jsonPatch(object, operations as readonly JsonPatchOperation[])
}

const structureFor = (kind: Kind, subresourceObject: SubresourceObject | undefined): StructStructure =>
  subresourceObject === undefined ? kind.schema.structure : structureOf(subresourceObject.message)

function merged(object: JsonObject, structure: StructStructure, applied: unknown): JsonValue {
  if (!isJsonObject(applied)) throw new MutationError('expected an object as the apply configuration')
  const configuration = applied
  const [wrong] = checkApplied(structure, configuration)
  if (wrong !== undefined) throw new MutationError(wrong)
  const atomic = atomicPaths(structure, configuration, '')
  if (atomic.length > 0)
    throw new MutationError(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`,
    )
  return typedMerge(structure, object, configuration)
}

/** An apply configuration must not contain atomic lists, maps or structs; a policy must use a JSON patch for them. */
function atomicPaths(structure: Structure, value: JsonValue | undefined, path: string): readonly string[] {
  const isAtomic =
    (structure.kind === 'list' && structure.listType === 'atomic') ||
    ((structure.kind === 'struct' || structure.kind === 'map') && structure.isAtomic)
  if (isAtomic && path !== '' && typeof value === 'object' && value !== null) return [path]
  if (Array.isArray(value))
    return structure.kind === 'list'
      ? value.flatMap((each: JsonValue, index) => atomicPaths(structure.element, each, `${path}[${index}]`))
      : []
  if (value === undefined || !isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const child = childStructure(structure, name)
    return child === undefined ? [] : atomicPaths(child, member, `${path}.${name}`)
  })
}

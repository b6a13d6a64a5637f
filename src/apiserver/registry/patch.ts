// patch: applies one of the patch forms to an object, as a value.
import type { ApiObject } from '../../api/object.ts'
import { badRequest, StatusError } from '../../api/status-error.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../schema/json-value.ts'
import { jsonPatch, JsonPatchError, type JsonPatchOperation } from '../../schema/json-patch.ts'
import { mergePatch } from '../../schema/merge-patch.ts'
import type { Message } from '../../schema/field.ts'
import { strategicMerge, StrategicMergeError } from '../../schema/strategic-merge.ts'
import type { PatchType } from '../request.ts'

export function patched(message: Message, object: ApiObject | object, patch: unknown, type: PatchType): unknown {
  try {
    switch (type) {
      case 'json':
        if (!Array.isArray(patch)) throw badRequest('the body of a JSON patch must be a list of operations')
        return jsonPatch(object as JsonValue, patch as JsonPatchOperation[])
      case 'merge':
        return mergePatch(object as JsonValue, patch as JsonValue)
      case 'strategic':
        if (!isJsonObject(patch)) throw badRequest('the body of a strategic merge patch must be an object')
        return strategicMerge(message, object as JsonObject, patch)
      default:
        return type satisfies never
    }
  } catch (error) {
    if (error instanceof JsonPatchError)
      throw new StatusError(
        422,
        'Invalid',
        `the server rejected our request due to an error in our request: ${error.message}`,
        {},
        { cause: error },
      )
    if (error instanceof StrategicMergeError) throw badRequest(error.message)
    throw error
  }
}

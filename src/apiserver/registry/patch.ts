// patch: one of the patch forms applied to an object: JSON patch, JSON merge patch, strategic merge patch, or apply.
import type { ApiObject } from '../../api/object.ts'
import { badRequest, conflict, hasReason, modifiedConflict, StatusError } from '../../api/status-error.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../schema/json-value.ts'
import { jsonPatch, JsonPatchError, jsonPatchOperationsMax, type JsonPatchOperation } from '../../schema/json-patch.ts'
import { mergePatch } from '../../schema/merge-patch.ts'
import type { Message } from '../../schema/field.ts'
import { strategicMerge, StrategicMergeError } from '../../schema/strategic-merge.ts'
import type { PatchType } from '../request.ts'
import { applied, appliedObject } from './apply.ts'
import { requireCreate } from './create-access.ts'
import { exists, type ResourceParts, type ResourceRequest } from './parts.ts'
import { applyOptionsOf } from './tracking.ts'
import {
  create,
  refuseOtherName,
  update,
  type Asked,
  type Transform,
  type UpdateOptions,
  type Written,
} from './writes.ts'

export interface Patched {
  /** An apply makes the object where there is none. */
  readonly isNew: boolean
  readonly written: Written
}

export async function patchObject(
  parts: ResourceParts,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<Patched> {
  const { value, patchType } = patchOf(request)
  const { message } = parts.face.kind
  if (patchType !== 'apply') {
    const transform: Transform = (current) => ({ body: patched(message, current, value, patchType) })
    return { isNew: false, written: await update(parts, request, transform, { part }) }
  }
  const config = appliedObject(value, parts.face.kind)
  const options = applyOptionsOf(parts, request)
  const transform: Transform = (current) => applied(current, config, options)
  if (part !== 'object') return { isNew: false, written: await update(parts, request, transform, { part }) }
  if (!(await exists(parts, request))) {
    await requireCreate(parts.authorize, request)
    try {
      return { isNew: true, written: await create(parts, request, appliedAnew(config, parts, request)) }
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error // somebody else was faster
    }
  }
  return { isNew: false, written: await update(parts, request, transform, { part }) }
}

function appliedAnew(config: JsonObject, parts: ResourceParts, request: ResourceRequest): Asked {
  const metadata = (isJsonObject(config['metadata']) ? config['metadata'] : {}) as Partial<ApiObject['metadata']>
  const { name } = request.target
  if (metadata.uid)
    throw conflict(
      parts.kind,
      name,
      `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`,
    )
  if (metadata.resourceVersion) throw modifiedConflict(parts.kind, name)
  refuseOtherName(metadata, request)
  return applied(undefined, config, applyOptionsOf(parts, request))
}

export function patchOf({ body }: ResourceRequest): { value: unknown; patchType: PatchType } {
  if (body.kind === 'none' || body.patchType === undefined) throw badRequest('the request has no patch')
  return { value: body.value, patchType: body.patchType }
}

export function patched(message: Message, object: object, patch: unknown, type: Exclude<PatchType, 'apply'>): unknown {
  try {
    switch (type) {
      case 'json':
        return jsonPatch(object as JsonValue, operationsOf(patch))
      case 'merge':
        if (!isJsonObject(patch)) throw badRequest(`error decoding patch: ${notAnObject(patch)}`)
        return mergePatch(object as JsonValue, patch)
      case 'strategic':
        if (!isJsonObject(patch)) throw badRequest(`error decoding patch: ${notAnObject(patch)}`)
        return strategicMerge(message, object as JsonObject, patch)
      default:
        return type satisfies never
    }
  } catch (error) {
    // Upstream does not say more to the client either.
    if (error instanceof JsonPatchError)
      throw new StatusError(
        422,
        'Invalid',
        'the server rejected our request due to an error in our request',
        {},
        { cause: error },
      )
    if (error instanceof StrategicMergeError) throw badRequest(error.message)
    throw error
  }
}

const notAnObject = (value: unknown): string =>
  `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type map[string]interface {}`

function operationsOf(patch: unknown): readonly JsonPatchOperation[] {
  if (!Array.isArray(patch))
    throw badRequest(`json: cannot unmarshal ${typeof patch} into Go value of type jsonpatch.Patch`)
  if (patch.length > jsonPatchOperationsMax)
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${patch.length}`,
    )
  return patch as JsonPatchOperation[]
}

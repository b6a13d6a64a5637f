// Patches: JSON patch, JSON merge patch, strategic merge patch, and apply.
import type { ApiObject } from '../../api/meta/object.ts'
import { badRequest, conflict, hasReason, modifiedConflict, StatusError } from '../../api/errors/status-error.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../schema/json/json-value.ts'
import {
  jsonPatch,
  JsonPatchError,
  jsonPatchOperationsMax,
  type JsonPatchOperation,
} from '../../schema/patch/json-patch.ts'
import { mergePatch } from '../../schema/patch/merge-patch.ts'
import type { Message } from '../../schema/descriptor/field.ts'
import { strategicMerge, StrategicMergeError } from '../../schema/patch/strategic-merge.ts'
import type { PatchType, ResourceRequest } from '../request/request.ts'
import { applyConfiguration, appliedConfiguration } from '../objects/server-side-apply.ts'
import { requireCreate } from './create-access.ts'
import { exists, type ResourceDeps } from './resource-deps.ts'
import { applyOptionsOf } from './field-tracking.ts'
import { create } from './create.ts'
import type { UpdateOptions } from './prepare-update.ts'
import { update, type Transform } from './update.ts'
import { checkName, type WriteInput, type WriteResult } from './write.ts'

export interface PatchResult {
  /** An apply creates a missing object. */
  readonly isNew: boolean
  readonly written: WriteResult
}

export async function patchObject(
  deps: ResourceDeps,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<PatchResult> {
  const { value, patchType } = patchOf(request)
  const { message } = deps.converter.kind
  if (patchType !== 'apply') {
    const transform: Transform = (current) => ({ body: applyPatch(message, current, value, patchType) })
    return { isNew: false, written: await update(deps, request, transform, { part }) }
  }
  const config = appliedConfiguration(value, deps.converter.kind)
  const transform: Transform = (current, versions) =>
    applyConfiguration(current, config, applyOptionsOf(deps, request, versions))
  if (part !== 'object') return { isNew: false, written: await update(deps, request, transform, { part }) }
  if (!(await exists(deps, request))) {
    await requireCreate(deps.authorize, request)
    try {
      return { isNew: true, written: await create(deps, request, appliedToMissing(config, deps, request)) }
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error // another writer has created it
    }
  }
  return { isNew: false, written: await update(deps, request, transform, { part }) }
}

function appliedToMissing(config: JsonObject, deps: ResourceDeps, request: ResourceRequest): WriteInput {
  const metadata = (isJsonObject(config['metadata']) ? config['metadata'] : {}) as Partial<ApiObject['metadata']>
  const { name } = request.target
  if (metadata.uid)
    throw conflict(
      deps.kind,
      name,
      `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`,
    )
  if (metadata.resourceVersion) throw modifiedConflict(deps.kind, name)
  checkName(metadata, request)
  return applyConfiguration(undefined, config, applyOptionsOf(deps, request, undefined))
}

export function patchOf({ body }: ResourceRequest): { value: unknown; patchType: PatchType } {
  if (body.kind === 'none' || body.patchType === undefined) throw badRequest('the request has no patch')
  return { value: body.value, patchType: body.patchType }
}

export function applyPatch(
  message: Message,
  object: object,
  patch: unknown,
  type: Exclude<PatchType, 'apply'>,
): unknown {
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
    // Upstream's message has no more details.
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

// The verbs on whole objects of every kind, and the responses that they have in common with subresources.
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import { badRequest, methodNotAllowed } from '../../../api/errors/status-error.ts'
import type { ResourceRequest } from '../../request/request.ts'
import type { ApiResponse } from '../../request/response.ts'
import { requireCreate } from './create-access.ts'
import { create, createByUpdate } from './create.ts'
import { remove, removeCollection } from './deletion.ts'
import { patchObject } from './patch.ts'
import type { UpdateOptions } from './prepare-update.ts'
import { get, list, watch } from './reads.ts'
import { exists, type ResourceDeps } from '../resource/resource-deps.ts'
import { update } from './update.ts'
import type { WriteResult } from './write.ts'

export function handleObject(deps: ResourceDeps, request: ResourceRequest): MaybePromise<ApiResponse> {
  const { verb } = request.target
  switch (verb) {
    case 'get':
      return getResponse(deps, request)
    case 'list':
      return list(deps, request)
    case 'watch':
      return watch(deps, request)
    case 'create':
      return createResponse(deps, request)
    case 'update':
      return updateResponse(deps, request, 'object')
    case 'patch':
      return patchResponse(deps, request, 'object')
    case 'delete':
      return deleteResponse(deps, request)
    case 'deletecollection':
      if (deps.strategy?.hasNoDeleteCollection) throw methodNotAllowed()
      return removeCollection(deps, request, optionalBodyOf(request))
    case 'proxy':
    case '':
      throw methodNotAllowed()
    default:
      return verb satisfies never
  }
}

export const getResponse = (deps: ResourceDeps, request: ResourceRequest): MaybePromise<ApiResponse> =>
  thenMaybe(get(deps, request), (stored) => objectResponse(deps, 200, { stored, warnings: [] }))

async function createResponse(deps: ResourceDeps, request: ResourceRequest): Promise<ApiResponse> {
  return objectResponse(deps, 201, await create(deps, request, { body: bodyOf(request) }))
}

export async function updateResponse(
  deps: ResourceDeps,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<ApiResponse> {
  if (part === 'object' && deps.kind.createsOnUpdate && !(await exists(deps, request))) {
    await requireCreate(deps.authorize, request)
    return objectResponse(deps, 201, await createByUpdate(deps, request, bodyOf(request)))
  }
  return objectResponse(deps, 200, await update(deps, request, () => ({ body: bodyOf(request) }), { part }))
}

export async function patchResponse(
  deps: ResourceDeps,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<ApiResponse> {
  const { isNew, written } = await patchObject(deps, request, part)
  return objectResponse(deps, isNew ? 201 : 200, written)
}

async function deleteResponse(deps: ResourceDeps, request: ResourceRequest): Promise<ApiResponse> {
  const { stored, isGone, warnings } = await remove(deps, request, optionalBodyOf(request))
  if (!isGone || deps.strategy?.returnsDeletedObject) return objectResponse(deps, 200, { stored, warnings })
  const { group, plural } = deps.kind
  const { name, uid } = stored.object.metadata
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid }
  return {
    kind: 'object',
    status: 200,
    object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
    warnings,
  }
}

const objectResponse = (
  { converter }: ResourceDeps,
  status: number,
  { stored, warnings }: WriteResult,
): ApiResponse => {
  const converted = converter.fromStored(stored)
  return {
    kind: 'object',
    status,
    // A response in JSON has the stored text.
    get object() {
      return converted.object
    },
    objectKind: converter.kind,
    stored: converted,
    warnings,
  }
}

export const bodyOf = ({ body }: ResourceRequest): unknown => {
  if (body.kind === 'none') throw badRequest('the request has no body')
  return body.value
}

const optionalBodyOf = ({ body }: ResourceRequest): unknown => (body.kind === 'value' ? body.value : undefined)

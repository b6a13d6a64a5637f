// The subresources that are the same for every kind: status, scale, and those that a strategy declares as an update or an
// action.
import { lookup } from '../../../base/collections/lookup.ts'
import type { MaybePromise } from '../../../base/async/maybe-promise.ts'
import { methodNotAllowed } from '../../../api/errors/status-error.ts'
import type { Kind, Scaling } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { isDryRun, type ResourceRequest } from '../../request/request.ts'
import type { ApiResponse } from '../../request/response.ts'
import type { StoredObject } from '../../storage/stored-object.ts'
import { bodyOf, getResponse, patchResponse, updateResponse } from '../verbs/object-verbs.ts'
import { get } from '../verbs/reads.ts'
import { strategyContextOf, type ResourceDeps } from '../resource/resource-deps.ts'
import { requireScale, scaleKind, scaleOf, scalePatch, scaleView, withScale } from './scale.ts'
import type { Strategy } from '../resource/strategy.ts'
import { admitBody } from './subresource-admission.ts'
import { updateWithRetry } from '../verbs/update-with-retry.ts'
import { update, type Transform } from '../verbs/update.ts'

/** Undefined where the kind has no such subresource. */
export function handleSubresource(deps: ResourceDeps, request: ResourceRequest): MaybePromise<ApiResponse> | undefined {
  const { resource, subresource } = request.target
  if (subresource === 'status' && resource.hasStatus) return handleStatus(deps, request)
  if (subresource === 'scale' && resource.scale !== undefined) return handleScale(deps, request, resource.scale)
  const merge = lookup(deps.strategy?.subresourceUpdates, subresource)
  if (merge !== undefined) return handleSubresourceUpdate(deps, request, merge)
  const action = lookup(deps.strategy?.subresourceActions, subresource)
  return action === undefined ? undefined : handleSubresourceAction(deps, request)
}

function handleStatus(deps: ResourceDeps, request: ResourceRequest): MaybePromise<ApiResponse> {
  const { verb } = request.target
  if (verb === 'get') return getResponse(deps, request)
  if (verb === 'update') return updateResponse(deps, request, 'status')
  if (verb === 'patch') return patchResponse(deps, request, 'status')
  throw methodNotAllowed()
}

async function handleScale(
  deps: ResourceDeps,
  request: ResourceRequest,
  scaling: Scaling<ApiObject>,
): Promise<ApiResponse> {
  const { verb } = request.target
  const { body } = request
  const response = (stored: StoredObject): ApiResponse => ({
    kind: 'object',
    status: 200,
    object: scaleOf(stored.object, scaling),
    objectKind: scaleKind,
  })
  if (verb === 'get') {
    const stored = await get(deps, request)
    requireScale(stored.object, scaling)
    return response(stored)
  }
  if ((verb !== 'update' && verb !== 'patch') || body.kind === 'none') throw methodNotAllowed()
  const transform: Transform =
    verb === 'patch'
      ? scalePatch(deps, request, scaling)
      : (current) => ({ body: withScale(current, scaling, body.value, request) })
  return response((await update(deps, request, transform, { part: 'object', view: scaleView(scaling) })).stored)
}

function handleSubresourceUpdate(
  deps: ResourceDeps,
  request: ResourceRequest,
  merge: NonNullable<Strategy['subresourceUpdates']>[string],
): MaybePromise<ApiResponse> {
  const { verb, subresource } = request.target
  const part = (sent: ApiObject, old: ApiObject) => merge(sent, old, strategyContextOf(deps, request))
  if (verb === 'update') return updateResponse(deps, request, part)
  if (deps.strategy?.updateOnlySubresources?.includes(subresource)) throw methodNotAllowed()
  if (verb === 'get') return getResponse(deps, request)
  if (verb === 'patch') return patchResponse(deps, request, part)
  throw methodNotAllowed()
}

/** `as`: the kind under which admission gets the body, where it is not the subresource. */
export async function handleSubresourceAction(
  deps: ResourceDeps,
  request: ResourceRequest,
  as?: Kind,
): Promise<ApiResponse> {
  const { target, context } = request
  const act = lookup(deps.strategy?.subresourceActions, target.subresource)
  if (target.verb !== 'create' || act === undefined) throw methodNotAllowed()
  const admittedAs = as === undefined ? target.subresource : ''
  const body = await admitBody(deps.admission, request, bodyOf(request), as ?? deps.kind, admittedAs)
  await updateWithRetry(deps, target, context, (current) => {
    const next = act(current, body, deps.clock.nowMs()).object
    return isDryRun(request) ? current : next
  })
  return createdStatus
}

/** The response of a subresource that was created and has no object of its own. */
export const createdStatus: ApiResponse = {
  kind: 'object',
  status: 201,
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
}

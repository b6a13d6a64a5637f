// Patches: JSON patch, JSON merge patch, strategic merge patch, and apply.
import { lookup } from '../../../base/collections/lookup.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { badRequest, conflict, hasReason, invalidPatch, StatusError } from '../../../api/errors/status-error.ts'
import { goText } from '../../../schema/apply/check-applied.ts'
import { isJsonObject, jsonKind, without, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import {
  jsonPatch,
  JsonPatchError,
  jsonPatchOperationsMax,
  type JsonPatchOperation,
} from '../../../schema/patch/json-patch.ts'
import { mergePatch } from '../../../schema/patch/merge-patch.ts'
import type { Message } from '../../../schema/descriptor/field.ts'
import { invalid } from '../../../schema/validation/field-error.ts'
import { sortedJson } from '../../../schema/validation/sorted-json.ts'
import { strategicMerge, StrategicMergeError } from '../../../schema/patch/strategic-merge.ts'
import { numberProblem } from '../../request/list-options.ts'
import type { PatchType, ResourceRequest } from '../../request/request.ts'
import { applyConfiguration, appliedConfiguration } from '../../objects/server-side-apply.ts'
import { requireCreate } from './create-access.ts'
import { exists, type ResourceDeps } from '../resource/resource-deps.ts'
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
    const transform: Transform = (current) =>
      patched(deps, applyPatch(message, current, value, patchType), value, patchType)
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

/** As upstream: errors of the patched object show it, or the patch where that is a strategic merge patch. */
function patched({ kind }: ResourceDeps, body: unknown, patch: unknown, type: Exclude<PatchType, 'apply'>): WriteInput {
  const shown = () => (type === 'strategic' ? goText((patch ?? {}) as JsonValue) : sortedJson(body as JsonValue))
  const rejected = (why: string) => invalidPatch(invalid('patch', shown(), why))
  if (!isJsonObject(body))
    throw rejected(`couldn't get version/kind; json parse error: ${cannotUnmarshal(body, typeStruct)}`)
  if (kind.custom !== undefined && !body['kind']) throw rejected(`Object 'Kind' is missing in '${sortedJson(body)}'`)
  return { body, rejected }
}

function appliedToMissing(config: JsonObject, deps: ResourceDeps, request: ResourceRequest): WriteInput {
  const sent: JsonObject = isJsonObject(config['metadata']) ? config['metadata'] : {}
  const metadata = sent as Partial<ApiObject['metadata']>
  const { name } = request.target
  if (metadata.uid)
    throw conflict(
      deps.kind,
      name,
      `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`,
    )
  // As upstream, the resourceVersion of a missing object is parsed and otherwise ignored.
  const { resourceVersion } = sent
  const problem = typeof resourceVersion === 'string' ? numberProblem(resourceVersion) : undefined
  if (problem !== undefined) throw new StatusError(500, '', problem)
  checkName(metadata, request)
  const isIgnored = typeof resourceVersion === 'string'
  const applied = isIgnored ? { ...config, metadata: without(sent, 'resourceVersion') } : config
  return applyConfiguration(undefined, applied, applyOptionsOf(deps, request, undefined))
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
        if (patch === null) throw badRequest('Invalid JSON Patch')
        if (!isJsonObject(patch)) throw badRequest(`error decoding patch: ${cannotUnmarshal(patch, untypedMap)}`)
        return mergePatch(object as JsonValue, patch)
      case 'strategic':
        if (patch === null) return object
        if (!isJsonObject(patch)) throw badRequest(cannotUnmarshal(patch, untypedMap))
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

const typeStruct = String.raw`value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`
const untypedMap = 'value of type map[string]interface {}'
const cannotUnmarshal = (value: unknown, into: string): string =>
  `json: cannot unmarshal ${jsonKind(value)} into Go ${into}`

function operationsOf(patch: unknown): readonly JsonPatchOperation[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) throw wrongPatch(patch, 'value of type []handlers.jsonPatchOp')
  for (const operation of patch) checkOperation(operation)
  if (patch.length > jsonPatchOperationsMax)
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${patch.length}`,
    )
  return patch as JsonPatchOperation[]
}

function checkOperation(operation: unknown): void {
  if (operation === null) return
  if (!isJsonObject(operation)) throw wrongPatch(operation, 'value of type handlers.jsonPatchOp')
  for (const name of ['op', 'path', 'from']) {
    const value = lookup(operation, name) ?? null
    if (value !== null && typeof value !== 'string')
      throw wrongPatch(value, `struct field jsonPatchOp.${name} of type string`)
  }
}

const wrongPatch = (value: unknown, into: string): StatusError =>
  badRequest(`error decoding patch: ${cannotUnmarshal(value, into)}`)

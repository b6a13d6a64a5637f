// The scale subresource: the number of replicas of an object, in a format that is the same for every kind.
import { ageText } from '../../../api/columns/age.ts'
import { bareKind } from '../../../api/kind/bare-kind.ts'
import { column, type Kind, type Scaling } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { scale, type Scale } from '../../../api/autoscaling/v1/scale.ts'
import { badRequest, invalidPatch, StatusError } from '../../../api/errors/status-error.ts'
import { structureOf } from '../../../schema/apply/structure.ts'
import { decode, DecodeError } from '../../../schema/decoding/decode.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import { invalid } from '../../../schema/validation/field-error.ts'
import { sortedJson } from '../../../schema/validation/sorted-json.ts'
import { scaleObject } from '../../admission/framework/subresource-object.ts'
import {
  appliedConfiguration,
  applyConfiguration,
  configurationOf,
  rejectInvalid,
} from '../../objects/server-side-apply.ts'
import { decodeBody } from '../../objects/decode-object.ts'
import type { ResourceDeps } from '../resource/resource-deps.ts'
import { applyPatch, patchOf } from '../verbs/patch.ts'
import { applyOptionsOf } from '../verbs/field-tracking.ts'
import type { SubresourceView } from '../verbs/prepare-update.ts'
import type { Transform } from '../verbs/update.ts'
import { checkName } from '../verbs/write.ts'
import type { ResourceRequest } from '../../request/request.ts'

export function scaleOf(object: ApiObject, scaling: Scaling<ApiObject>): object {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = scaling.replicas(object)
  const selector = scaling.selector(object)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: scaling.statusReplicas(object), ...(selector === '' ? {} : { selector }) },
  }
}

/** A Scale as responses show it: its columns in tables. */
export const scaleKind: Kind = {
  ...bareKind({
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    plural: 'scales',
    singular: 'scale',
    namespaced: true,
  }),
  message: scale,
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Desired', (object) => (object as ApiObject & Scale).spec?.replicas ?? 0, { type: 'integer' }),
    column('Available', (object) => (object as ApiObject & Scale).status?.replicas ?? 0, { type: 'integer' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
}

/** Throws where a custom object has no replicas to show. */
export function requireScale(object: ApiObject, scaling: Scaling<ApiObject>): void {
  const problem = scaling.problem?.(object)
  if (problem !== undefined)
    throw new StatusError(500, 'InternalError', `Internal error occurred: ${problem}`, {
      causes: [{ message: problem }],
    })
}

/** Admission gets the Scale in place of the scaled object. */
export const scaleView = (scaling: Scaling<ApiObject>): SubresourceView => ({
  subresourceObject: scaleObject,
  of: (object) => scaleOf(object, scaling) as ApiObject,
  applyTo: (object, seen) => scaling.withReplicas(object, (seen as ApiObject & Scale).spec?.replicas ?? 0),
})

/** For every body that is not a Scale, upstream's server of custom resources has this message. */
const notAScale = 'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:781"'

function decodeScale(sent: unknown, { target }: ResourceRequest): Partial<Scale> {
  if (target.resource.custom === undefined) return decodeBody(scale, 'Scale', sent)
  const { apiVersion = 'autoscaling/v1', kind = 'Scale' } = isJsonObject(sent) ? sent : {}
  if (apiVersion !== 'autoscaling/v1' || kind !== 'Scale') throw badRequest(notAScale)
  try {
    return decodeBody(scale, 'Scale', sent)
  } catch (error) {
    throw error instanceof StatusError && error.code === 400 ? badRequest(notAScale) : error
  }
}

/** The object with the replicas of a Scale that was sent. */
export function withScale(
  object: ApiObject,
  scaling: Scaling<ApiObject>,
  sent: unknown,
  request: ResourceRequest,
): ApiObject {
  const { metadata = {}, spec } = decodeScale(sent, request)
  checkName(metadata, request)
  const changed = scaling.withReplicas(object, spec?.replicas ?? 0)
  const { resourceVersion, uid } = metadata
  return {
    ...changed,
    metadata: {
      ...changed.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(uid === undefined ? {} : { uid }),
    },
  }
}

/** As upstream: the error of a patched Scale shows it. */
function rejectWrongType(patched: unknown): void {
  try {
    decode(scale, patched)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw invalidPatch(invalid('patch', sortedJson(patched as JsonValue), error.message))
  }
}

export function scalePatch(deps: ResourceDeps, request: ResourceRequest, scaling: Scaling<ApiObject>): Transform {
  const { value, patchType } = patchOf(request)
  if (patchType !== 'apply')
    return (current) => {
      const body = applyPatch(scale, scaleOf(current, scaling), value, patchType)
      rejectWrongType(body)
      return { body: withScale(current, scaling, body, request) }
    }
  if (request.target.resource.custom !== undefined) {
    configurationOf(value, scaleKind)
    return rejectAppliedScale
  }
  const config = appliedScale(value, request)
  return (current, versions) => {
    const options = { ...applyOptionsOf(deps, request, versions), shownVersion: scaleKind.apiVersion }
    return applyConfiguration(current, config, options)
  }
}

/** As upstream, which takes the Scale for a version of the custom kind. */
const rejectAppliedScale: Transform = () => {
  throw new StatusError(
    500,
    '',
    'failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1',
  )
}

/** The configuration of the scaled object in an applied Scale. */
function appliedScale(value: unknown, request: ResourceRequest): JsonObject {
  const body = appliedConfiguration(value, scaleKind)
  rejectInvalid(body, structureOf(scale))
  const metadata = (body['metadata'] ?? {}) as Partial<ApiObject['metadata']>
  checkName(metadata, request)
  const { spec } = body
  const { resourceVersion, uid } = metadata
  const { replicas } = isJsonObject(spec) ? spec : {}
  return {
    metadata: { ...(resourceVersion === undefined ? {} : { resourceVersion }), ...(uid === undefined ? {} : { uid }) },
    ...(replicas === undefined ? {} : { spec: { replicas } }),
  }
}

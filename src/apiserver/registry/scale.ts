// The scale subresource: the number of replicas of an object, in a shape that is the same for every kind.
import type { Scaling } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import { scale, type Scale } from '../../api/autoscaling/v1/scale.ts'
import { badRequest } from '../../api/status-error.ts'
import { checkApplied } from '../../schema/apply/check-applied.ts'
import { structureOf } from '../../schema/apply/structure.ts'
import { isJsonObject, type JsonObject } from '../../schema/json-value.ts'
import { postedScale } from '../admission/posted.ts'
import { applied } from './apply.ts'
import { decodeBody } from './ingest.ts'
import type { ResourceParts, ResourceRequest } from './parts.ts'
import { patched, patchOf } from './patch.ts'
import { applyOptionsOf } from './tracking.ts'
import { refuseOtherName, type Lens, type Transform } from './writes.ts'

export function scaleOf(object: ApiObject, scaling: Scaling<ApiObject>): object {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = scaling.replicas(object)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: scaling.statusReplicas(object), selector: scaling.selector(object) },
  }
}

/** Admission judges the Scale, not what is scaled. */
export const scaleLens = (scaling: Scaling<ApiObject>): Lens => ({
  posted: postedScale,
  of: (object) => scaleOf(object, scaling) as ApiObject,
  into: (object, seen) => scaling.withReplicas(object, (seen as ApiObject & Scale).spec?.replicas ?? 0),
})

/** The object with the replicas of a Scale that was sent. */
export function withScale(
  object: ApiObject,
  scaling: Scaling<ApiObject>,
  sent: unknown,
  request: ResourceRequest,
): ApiObject {
  const value = decodeBody(scale, 'Scale', sent)
  refuseOtherName(value.metadata ?? {}, request)
  const changed = scaling.withReplicas(object, value.spec?.replicas ?? 0)
  const { resourceVersion, uid } = value.metadata ?? {}
  return {
    ...changed,
    metadata: {
      ...changed.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(uid === undefined ? {} : { uid }),
    },
  }
}

export function patchingScale(parts: ResourceParts, request: ResourceRequest, scaling: Scaling<ApiObject>): Transform {
  const { value, patchType } = patchOf(request)
  if (patchType !== 'apply')
    return (current) => ({
      body: withScale(current, scaling, patched(scale, scaleOf(current, scaling), value, patchType), request),
    })
  const config = appliedScale(value)
  const options = applyOptionsOf(parts, request)
  return (current) => applied(current, config, options)
}

/** What an applied Scale wants of the object that it scales. */
function appliedScale(body: unknown): JsonObject {
  if (!isJsonObject(body) || body['apiVersion'] !== 'autoscaling/v1' || body['kind'] !== 'Scale')
    throw badRequest('invalid object type: an applied Scale is of autoscaling/v1, Kind=Scale')
  const [error] = checkApplied(structureOf(scale), body)
  if (error !== undefined)
    throw badRequest(`failed to create typed patch object (autoscaling/v1, Kind=Scale): ${error}`)
  const { metadata, spec } = body
  const { resourceVersion, uid } = isJsonObject(metadata) ? metadata : {}
  const { replicas } = isJsonObject(spec) ? spec : {}
  return {
    metadata: { ...(resourceVersion === undefined ? {} : { resourceVersion }), ...(uid === undefined ? {} : { uid }) },
    ...(replicas === undefined ? {} : { spec: { replicas } }),
  }
}

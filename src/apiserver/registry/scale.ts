// The scale subresource: the number of replicas of an object, in a shape that is the same for every kind.
import type { Scaling } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import { scale } from '../../api/autoscaling/v1/scale.ts'
import { decodeBody } from './ingest.ts'

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

/** The object with the replicas of a Scale that was sent. */
export function withScale(object: ApiObject, scaling: Scaling<ApiObject>, sent: unknown): ApiObject {
  const value = decodeBody(scale, 'Scale', sent)
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

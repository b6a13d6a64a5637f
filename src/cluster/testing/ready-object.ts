// isReadyObject: whether an object is what its spec asks for, by the rules that tools such as Helm wait with.
import type { ApiObject } from '../../api/meta/object.ts'

interface Shape {
  readonly kind?: string
  readonly spec?: { readonly replicas?: number; readonly type?: string }
  readonly status?: {
    readonly observedGeneration?: number | bigint
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly numberReady?: number
    readonly loadBalancer?: { readonly ingress?: readonly object[] }
  }
}

/** Conditions that say whether an object of any kind is ready, of which those that it has must be true. */
const readyTypes = new Set(['Ready', 'Available', 'Established'])

/** An object without a condition that says so is ready when it exists. */
export function isReadyObject(object: ApiObject): boolean {
  const { generation, deletionTimestamp } = object.metadata
  const { kind, spec = {}, status = {} } = object as Shape
  const { observedGeneration = generation, phase, conditions = [] } = status
  if (deletionTimestamp !== undefined || Number(observedGeneration) < Number(generation)) return false
  const has = (type: string) => conditions.some((each) => each.type === type && each.status === 'True')
  const { replicas: wanted = 1 } = spec
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0, updatedReplicas = 0 } = status
  switch (kind) {
    case 'Deployment':
      return [replicas, updatedReplicas, availableReplicas].every((count) => count === wanted)
    case 'StatefulSet':
      return [replicas, updatedReplicas, readyReplicas].every((count) => count === wanted)
    case 'ReplicaSet':
    case 'ReplicationController':
      return [replicas, availableReplicas].every((count) => count === wanted)
    case 'DaemonSet': {
      const { desiredNumberScheduled, updatedNumberScheduled, numberReady } = status
      return numberReady === desiredNumberScheduled && updatedNumberScheduled === desiredNumberScheduled
    }
    case 'Pod':
      return has('Ready') || phase === 'Succeeded'
    case 'Job':
      return has('Complete')
    case 'PersistentVolumeClaim':
      return phase === 'Bound'
    case 'Namespace':
      return phase === 'Active'
    case 'Service':
      return spec.type !== 'LoadBalancer' || (status.loadBalancer?.ingress?.length ?? 0) > 0
    default:
      return conditions.filter(({ type }) => readyTypes.has(type)).every(({ status: is }) => is === 'True')
  }
}

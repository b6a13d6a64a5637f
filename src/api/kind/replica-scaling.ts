// replicaScaling: the scale of kinds with `spec.replicas`; only their selectors differ.
import type { Scaling } from './kind.ts'
import type { ApiObject } from '../meta/object.ts'

interface Replicated extends ApiObject {
  readonly spec: { readonly replicas: number }
  readonly status: { readonly replicas?: number }
}

export const replicaScaling = <T extends Replicated>(selector: (object: T) => string): Scaling<T> => ({
  replicas: ({ spec }) => spec.replicas,
  withReplicas: (object, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
  statusReplicas: ({ status }) => status.replicas ?? 0,
  selector,
})

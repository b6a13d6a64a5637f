// Namespace: it is removed when its content is deleted; until then the finalizer in its spec blocks the removal.
import { namespace, type Namespace } from '../../api/core/v1/namespace.ts'
import type { Strategy } from '../registry/resource/strategy.ts'

const contentFinalizer = 'kubernetes'

export const namespaceStrategy: Strategy<Namespace> = {
  kind: namespace,
  hasNoDeleteCollection: true,
  prepareCreate: (object) => ({
    ...object,
    spec: { ...object.spec, finalizers: [...new Set([...(object.spec.finalizers ?? []), contentFinalizer])] },
  }),
  // Only the finalize subresource changes the finalizers of the spec.
  prepareUpdate: (object, old) => ({ ...object, spec: old.spec }),
  updateOnlySubresources: ['finalize'],
  subresourceUpdates: {
    finalize: (sent, old) => ({ ...old, spec: { ...old.spec, finalizers: sent.spec.finalizers ?? [] } }),
  },
  isBlocked: ({ spec }) => (spec.finalizers ?? []).length > 0,
  markDeleted: (object) => ({ ...object, status: { ...object.status, phase: 'Terminating' } }),
}

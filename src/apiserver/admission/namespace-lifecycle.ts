// NamespaceLifecycle: nothing is made in a namespace that is missing or ending, and the first namespaces stay.
import { namespace, type Namespace } from '../../api/core/v1/namespace.ts'
import { forbidden, notFound, StatusError } from '../../api/status-error.ts'
import { defineAdmissionPlugin } from './plugin.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])

export const namespaceLifecycle = defineAdmissionPlugin({
  name: 'NamespaceLifecycle',
  validate({ operation, kind, namespace: name, name: objectName, object }, reads) {
    if (operation === 'delete') {
      if (kind.plural === namespace.plural && immortal.has(objectName))
        throw forbidden(namespace, objectName, 'this namespace may not be deleted')
      return
    }
    if (!kind.namespaced || operation !== 'create') return
    const found = reads.get(namespace, '', name) as Namespace | undefined
    if (found === undefined) throw notFound(namespace, name)
    if (found.status.phase !== 'Terminating') return
    const refusal = forbidden(
      kind,
      object?.metadata.name ?? objectName,
      `unable to create new content in namespace ${name} because it is being terminated`,
    )
    throw new StatusError(refusal.code, refusal.reason, refusal.message, {
      ...refusal.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${name} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    })
  },
})

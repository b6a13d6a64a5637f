// NamespaceLifecycle: nothing is made in a namespace that is missing or ending, and the first namespaces stay.
import { localSubjectAccessReview } from '../../../api/authorization/v1/local-subject-access-review.ts'
import { namespace } from '../../../api/core/v1/namespace.ts'
import { forbidden, notFound, StatusError } from '../../../api/errors/status-error.ts'
import { defineAdmissionPlugin, admissionForbidden } from '../framework/admission-plugin.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])

export const namespaceLifecycle = defineAdmissionPlugin({
  name: 'NamespaceLifecycle',
  handles: { operations: ['create', 'delete'], subresources: 'all' },
  admit(attributes, host) {
    const { operation, kind, namespace: name, name: objectName, object } = attributes
    if (operation === 'delete') {
      if (kind === namespace && immortal.has(objectName))
        throw forbidden(namespace, objectName, 'this namespace may not be deleted')
      return object
    }
    // Whether a namespace exists is told to nobody who only asks about rights.
    if (!kind.namespaced || kind === localSubjectAccessReview) return object
    const found = host.get(namespace, '', name)
    if (found === undefined) throw notFound(namespace, name)
    if (found.status.phase !== 'Terminating') return object
    const refusal = admissionForbidden(
      attributes,
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

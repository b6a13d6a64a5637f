// NamespaceLifecycle: no object is created in a missing or terminating namespace, and the initial namespaces cannot be
// deleted.
import { localSubjectAccessReview } from '../../../api/authorization/v1/local-subject-access-review.ts'
import { namespace, type Namespace } from '../../../api/core/v1/namespace.ts'
import { forbidden, notFound, StatusError } from '../../../api/errors/status-error.ts'
import { admissionForbidden, defineAdmissionPlugin, type AdmissionAttributes } from '../framework/admission-plugin.ts'

const undeletable = new Set(['default', 'kube-system', 'kube-public'])

export const namespaceLifecycle = defineAdmissionPlugin({
  name: 'NamespaceLifecycle',
  handles: { operations: ['create', 'delete'], subresources: 'all' },
  admit(attributes, host) {
    const { operation, kind, namespace: name, name: objectName, object, signal } = attributes
    if (operation === 'delete') {
      if (kind === namespace && undeletable.has(objectName))
        throw forbidden(namespace, objectName, 'this namespace may not be deleted')
      return object
    }
    // A LocalSubjectAccessReview does not reveal whether its namespace exists.
    if (!kind.namespaced || kind === localSubjectAccessReview) return object
    const cached = host.get(namespace, '', name)
    if (cached !== undefined) return admitIn(cached, attributes)
    // The cache may not have it yet, if it was created a moment ago.
    return host.readFromStore(namespace, '', name, signal).then((stored) => admitIn(stored?.object, attributes))
  },
})

function admitIn(found: Namespace | undefined, attributes: AdmissionAttributes): AdmissionAttributes['object'] {
  const { namespace: name, object } = attributes
  if (found === undefined) throw notFound(namespace, name)
  if (found.status.phase !== 'Terminating') return object
  const rejection = admissionForbidden(
    attributes,
    `unable to create new content in namespace ${name} because it is being terminated`,
  )
  throw new StatusError(rejection.code, rejection.reason, rejection.message, {
    ...rejection.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${name} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}

// OwnerReferencesPermissionEnforcement (off by default): adding an owner needs the permission to delete the object, and
// blocking the owner's deletion needs the permission to set the owner's finalizers.
import { qualifiedResource } from '../../../api/kind/kind.ts'
import type { OwnerReference } from '../../../api/meta/v1/object-meta.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import {
  defineAdmissionPlugin,
  admissionForbidden,
  type AdmissionAttributes,
  type AdmissionHost,
} from '../framework/admission-plugin.ts'

export const ownerReferencesPermissionEnforcement = defineAdmissionPlugin({
  name: 'OwnerReferencesPermissionEnforcement',
  handles: { operations: ['create', 'update'], subresources: 'all' },
  validate(attributes, host) {
    const { ownerReferences: now = noOwners } = attributes.object?.metadata ?? {}
    const { ownerReferences: before = noOwners } = attributes.old?.metadata ?? {}
    return equalValues(now, before) ? undefined : mayOwn(now, before, attributes, host)
  },
})

const noOwners: readonly OwnerReference[] = []

async function mayOwn(
  now: readonly OwnerReference[],
  before: readonly OwnerReference[],
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<void> {
  const { operation, kind, namespace, name, user, signal } = attributes
  const { group, version, plural: resource } = kind
  const may = (verb: string, on: object) => host.isAllowed(user, verb, { namespace, ...on }, signal)
  if (operation !== 'create' && !(await may('delete', { group, version, resource, name })))
    throw admissionForbidden(attributes, "cannot set an ownerRef on a resource you can't delete: , <nil>")
  const blockedBefore = new Set(before.filter(isBlocking).map(({ uid }) => uid))
  for (const owner of now.filter((each) => isBlocking(each) && !blockedBefore.has(each.uid))) {
    const of = host.kindNamed(owner.apiVersion, owner.kind)
    if (of === undefined)
      throw admissionForbidden(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${owner.apiVersion} Kind ${owner.kind}: no matches for kind ${JSON.stringify(owner.kind)} in version ${JSON.stringify(owner.apiVersion)}`,
      )
    const target = { group: of.group, version: of.version, resource: of.plural, subresource: 'finalizers' }
    if (!(await may('update', { ...target, name: owner.name, ...(of.namespaced ? {} : { namespace: '' }) })))
      throw admissionForbidden(
        attributes,
        `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${qualifiedResource(of)} ${JSON.stringify(owner.name)}`,
      )
  }
}

const isBlocking = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true

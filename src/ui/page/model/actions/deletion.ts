// What follows from the deletion of objects, in sentences, for the question before it.
import type { ClusterObject, OwnerReference } from '../../source/source.ts'
import type { OwnedObject } from '../owner-tree.ts'

/** Names in one sentence; further ones are counted. */
const namesMax = 5

export function consequencesOf(
  id: string,
  objects: readonly Pick<ClusterObject, 'metadata'>[],
  owned: readonly OwnedObject[],
): readonly string[] {
  return [...ofKind(id), ...ofOwned(owned), ...ofOwners(objects)]
}

/** What belongs to an object without being owned by it. */
function ofKind(id: string): readonly string[] {
  switch (id) {
    case 'namespaces':
      return ['Everything in a namespace is deleted with it.']
    case 'customresourcedefinitions.apiextensions.k8s.io':
      return ['All objects of the kind are deleted with its definition.']
    case 'nodes':
      return ['Pods on a node are deleted after it. A kubelet that still runs registers its node again.']
    case 'persistentvolumeclaims':
      return ['The data of a claim are deleted with it, unless its volume is retained.']
    case 'services':
      return ['Clients of a Service cannot reach its pods any more by its name and address.']
    default:
      return []
  }
}

/** Owned objects are deleted by the garbage collector. */
function ofOwned(owned: readonly OwnedObject[]): readonly string[] {
  if (owned.length === 0) return []
  const byResource = Map.groupBy(owned, ({ resource }) => resource)
  const parts = [...byResource].map(([resource, all]) => {
    const names = all.slice(0, namesMax).map(({ object }) => object.metadata.name)
    const more = all.length > namesMax ? ` and ${all.length - namesMax} more` : ''
    return `${all.length} ${resource} (${names.join(', ')}${more})`
  })
  return [`Deleted with it: ${parts.join('; ')}.`]
}

/** A controller replaces what it owns. */
function ofOwners(objects: readonly Pick<ClusterObject, 'metadata'>[]): readonly string[] {
  const controllers = objects.flatMap(
    ({ metadata }) => metadata.ownerReferences?.find(({ controller }) => controller === true) ?? [],
  )
  const texts = [...new Set(controllers.map(({ kind, name }: OwnerReference) => `${kind} ${name}`))]
  if (texts.length === 0) return []
  const shown = texts.slice(0, namesMax).join(', ')
  const more = texts.length > namesMax ? ` and ${texts.length - namesMax} others` : ''
  return [`Its controller replaces it: ${shown}${more}.`]
}

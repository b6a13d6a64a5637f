// withUsedMetadata: the metadata of an object that a client sent, without what the server ignores: the selfLink, and owners
// that are listed again.
import { areRepeated } from '../../base/collections/first-indexes.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { OwnerReference } from '../../api/meta/v1/object-meta.ts'
import { without } from '../../schema/json/json-value.ts'
import type { DecodedObject } from './decode-object.ts'

export function withUsedMetadata(decoded: DecodedObject): DecodedObject {
  const { selfLink, ownerReferences } = decoded.object.metadata
  const unlinked =
    selfLink === undefined ? decoded : withMetadata(decoded, without(decoded.object.metadata, 'selfLink'))
  return ownerReferences === undefined || ownerReferences.length < 2 ? unlinked : withoutRepeatedOwners(unlinked)
}

const withMetadata = ({ object, warnings }: DecodedObject, metadata: ApiObject['metadata']): DecodedObject => ({
  object: { ...object, metadata },
  warnings,
})

function withoutRepeatedOwners(decoded: DecodedObject): DecodedObject {
  const { metadata } = decoded.object
  const isRepeated = areRepeated(metadata.ownerReferences ?? [], ownerText)
  if (!isRepeated.includes(true)) return decoded
  const repeated = (metadata.ownerReferences ?? []).filter((_, index) => isRepeated[index]).map(({ uid }) => uid)
  const ownerReferences = (metadata.ownerReferences ?? []).filter((_, index) => !isRepeated[index])
  const { object } = withMetadata(decoded, { ...metadata, ownerReferences })
  return { object, warnings: [...decoded.warnings, repeatedOwners(repeated)] }
}

/** The same for equal references. */
const ownerText = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string =>
  JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])

const repeatedOwners = (uids: readonly string[]): string =>
  '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such ' +
  `requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`

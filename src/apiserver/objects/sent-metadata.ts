// withUsedMetadata: the metadata of an object that a client sent, without what the server ignores: the selfLink, and owners
// that are listed again.
import type { ApiObject } from '../../api/meta/object.ts'
import type { OwnerReference } from '../../api/meta/v1/object-meta.ts'
import { equalValues, without } from '../../schema/json/json-value.ts'
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
  const ownerReferences: OwnerReference[] = []
  const repeated: string[] = []
  for (const owner of metadata.ownerReferences ?? [])
    if (ownerReferences.some((other) => other.uid === owner.uid && equalValues(other, owner))) repeated.push(owner.uid)
    else ownerReferences.push(owner)
  if (repeated.length === 0) return decoded
  const { object } = withMetadata(decoded, { ...metadata, ownerReferences })
  return { object, warnings: [...decoded.warnings, repeatedOwners(repeated)] }
}

const repeatedOwners = (uids: readonly string[]): string =>
  '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such ' +
  `requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`

// Owners that decide about an object: owners that are gone or being deleted, after which the garbage collector deletes it.
import { isBeingDeleted, namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import type { OwnerReference } from '../../../api/meta/v1/object-meta.ts'
import { isMissing, type ClusterReader } from './cluster-reader.ts'
import { warning, type Finding } from './finding.ts'

/** Owner references that are checked. */
const ownersMax = 10

export async function ownerFindings(object: ApiObject, cluster: ClusterReader): Promise<readonly Finding[]> {
  const owners = (object.metadata.ownerReferences ?? []).slice(0, ownersMax)
  const sentences = await Promise.all(owners.map((owner) => ownerSentence(owner, object, cluster)))
  return sentences.flatMap((sentence) => (sentence === undefined ? [] : [warning(sentence)]))
}

async function ownerSentence(
  { apiVersion, kind: kindName, name, uid }: OwnerReference,
  object: ApiObject,
  cluster: ClusterReader,
): Promise<string | undefined> {
  if (cluster.kindOf === undefined) return undefined
  const title = `Its owner ${kindName}/${name}`
  const kind = await cluster.kindOf(apiVersion, kindName)
  if (kind === undefined)
    return `${title} is of ${apiVersion}, which this cluster does not serve: the garbage collector waits until it is served.`
  const home = kind.namespaced ? namespaceOf(object) : ''
  const found = await cluster.find(kind, home, name)
  if (found === undefined && !(await isMissing(cluster, kind, home, name))) return undefined
  if (found === undefined)
    return `${title} does not exist: the garbage collector deletes the object, unless another owner exists.`
  if (found.metadata.uid !== uid)
    return `${title} is another object than the one that owned it (its uid differs): the garbage collector deletes the object, unless another owner exists.`
  return isBeingDeleted(found) ? `${title} is being deleted.` : undefined
}

// ResourceClaim: removes finished pods from `reservedFor`, deallocates claims without users, and deletes claims that
// were generated for a pod when the pod is finished.
import type { Context } from '../../base/observability/context.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { reservedForMax, resourceClaim, type ResourceClaim } from '../../api/resource/v1/resource-claim.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { defineController, type ObjectIndex, type ReconcileTools } from '../runtime/controller.ts'
import { hasFinalizer, withoutFinalizer } from '../../api/meta/finalizers.ts'

/** Set by the scheduler on claims that it allocates. */
const finalizer = 'resource.kubernetes.io/delete-protection'

type User = NonNullable<ResourceClaim['status']['reservedFor']>[number]

const podsByClaim: ObjectIndex<Pod> = { kind: pod, name: 'resource-claim', valuesOf: (target) => claimsOf(target) }

export const resourceClaimController = defineController({
  name: 'resource-claim',
  account: 'resource-claim-controller',
  watches: [pod, resourceClaim],
  indexes: [podsByClaim as ObjectIndex],
  state: () => undefined,
  enqueues(kind, { key, now, before }) {
    if (kind.kind === resourceClaim.kind) return now === undefined ? [] : [key]
    const last = (now ?? before) as Pod | undefined
    // An unscheduled pod does not use its claims yet. The scheduler reserves them when it binds the pod.
    return last === undefined || (now !== undefined && !isOver(last) && last.spec.nodeName === undefined)
      ? []
      : claimsOf(last)
  },
  async reconcile(key, tools, context) {
    const claim = tools.cached(resourceClaim, key)
    if (claim === undefined) return
    const users = await usersLeft(claim, tools, context)
    const added = newUsers(claim, users, tools)
    try {
      const freed = await settle(claim, users, added, tools, context)
      const owner = controllerOf(claim)
      if (users.length + added.length > 0 || owner?.kind !== pod.kind || isBeingDeleted(freed)) return
      if (await isUsing(claim, owner, tools, context)) return
      const { name, uid } = claim.metadata
      await tools.client.of(resourceClaim).delete(name, namespaceOf(claim), { uid }, context)
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  },
})

/** Updates the users of the claim; without users, removes its allocation and finalizer. */
async function settle(
  claim: ResourceClaim,
  left: readonly User[],
  added: readonly User[],
  { client }: Pick<ReconcileTools, 'client'>,
  context: Context,
): Promise<ResourceClaim> {
  const { reservedFor = [], allocation, ...status } = claim.status
  const users = [...left, ...added]
  const isProtected = hasFinalizer(claim, finalizer)
  const isIdle = users.length === 0 && isProtected
  const isChanged = left.length < reservedFor.length || added.length > 0
  if (!isChanged && !(isIdle && isBeingDeleted(claim))) return claim
  const kept = {
    ...status,
    ...(users.length > 0 && { reservedFor: users }),
    ...(allocation !== undefined && !isIdle && { allocation }),
  }
  const claims = client.of(resourceClaim)
  // An update, not a patch: it fails with a conflict if the claim was reserved in the meantime.
  const freed =
    isChanged || allocation !== undefined ? await claims.updateStatus({ ...claim, status: kept }, context) : claim
  return isIdle ? claims.update(withoutFinalizer(freed, finalizer), context) : freed
}

/** The remaining users. Users that are not pods are kept, because their state is unknown. */
async function usersLeft(claim: ResourceClaim, tools: ReconcileTools, context: Context): Promise<readonly User[]> {
  const users: User[] = []
  for (const user of claim.status.reservedFor ?? [])
    if (user.apiGroup || user.resource !== 'pods' || (await isUsing(claim, user, tools, context))) users.push(user)
  return users
}

/** Scheduled pods without a reservation in the allocated claim: their nodeName was not set by our scheduler. */
function newUsers(claim: ResourceClaim, users: readonly User[], { byIndex }: Pick<ReconcileTools, 'byIndex'>): User[] {
  if (claim.status.allocation === undefined || isBeingDeleted(claim)) return []
  const known = new Set(users.map(({ uid }) => uid))
  const owner = controllerOf(claim)
  return byIndex(podsByClaim, keyOf(claim))
    .filter(({ metadata: { uid } }) => !known.has(uid) && (owner?.kind !== pod.kind || owner.uid === uid))
    .filter((user) => user.spec.nodeName !== undefined && !isOver(user) && !isBeingDeleted(user))
    .slice(0, reservedForMax - users.length)
    .map(({ metadata: { name, uid } }) => ({ resource: 'pods', name, uid }))
}

/** Whether the pod with this uid exists and is not finished. A pod that is not cached is read from the API server. */
async function isUsing(
  claim: ResourceClaim,
  { name, uid }: Pick<User, 'name' | 'uid'>,
  { client, cached }: Pick<ReconcileTools, 'client' | 'cached'>,
  context: Context,
): Promise<boolean> {
  const namespace = namespaceOf(claim)
  const known = cached(pod, objectKey(namespace, name))
  const found = known?.metadata.uid === uid ? known : await client.of(pod).find(name, namespace, context)
  return found?.metadata.uid === uid && !isOver(found)
}

/** Finished, or deleted without having been scheduled. */
export const isOver = (target: Pod): boolean =>
  isPodFinished(target) || (isBeingDeleted(target) && target.spec.nodeName === undefined)

/** The claims that the pod names, those generated from templates, and the one for its extended resources. */
const claimsOf = (target: Pod): readonly ObjectKey[] => {
  const { spec, status } = target
  if (spec.resourceClaims === undefined && status.extendedResourceClaimStatus === undefined) return noClaims
  const names = [
    ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ...(status.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
    status.extendedResourceClaimStatus?.resourceClaimName,
  ]
  return names.flatMap((name) => (name === undefined ? [] : [objectKey(namespaceOf(target), name)]))
}

const noClaims: readonly ObjectKey[] = []

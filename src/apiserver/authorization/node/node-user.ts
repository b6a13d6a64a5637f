// The user name of kubelets: `system:node:<name>` in the group `system:nodes`.
import { lookup } from '../../../base/collections/lookup.ts'
import { userWithName, type User } from '../../request/request.ts'
import { authenticatedGroup } from '../../request/user-names.ts'

const userPrefix = 'system:node:'
export const nodesGroup = 'system:nodes'

/** The node name of a kubelet's user; undefined for other users, empty if the user name does not contain it. */
export function nodeNameOf({ name, groups }: User): string | undefined {
  if (!groups.includes(nodesGroup)) return undefined
  return name.startsWith(userPrefix) ? name.slice(userPrefix.length) : ''
}

/** An extra of kubelets that run in the API server's process. Neither certificates nor tokens have it. */
const ownProcessKey = 'coxswain.dev/own-process'

/** The user of a kubelet in the API server's process. It registers with the range that this process has chosen. */
export const ownKubeletUser = (name: string): User => ({
  ...userWithName(`${userPrefix}${name}`, [nodesGroup, authenticatedGroup]),
  extra: { [ownProcessKey]: ['true'] },
})

export const bringsRanges = ({ extra }: User): boolean => lookup(extra, ownProcessKey) !== undefined

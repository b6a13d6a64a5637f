// The user name of kubelets: `system:node:<name>` in the group `system:nodes`.
import type { User } from '../../request/request.ts'

const userPrefix = 'system:node:'
export const nodesGroup = 'system:nodes'

/** The node name of a kubelet's user; undefined for other users, empty if the user name does not contain it. */
export function nodeNameOf({ name, groups }: User): string | undefined {
  if (!groups.includes(nodesGroup)) return undefined
  return name.startsWith(userPrefix) ? name.slice(userPrefix.length) : ''
}

// Node user: as whom kubelets are known.
import type { User } from '../../request/request.ts'

const userPrefix = 'system:node:'
const nodesGroup = 'system:nodes'

/** The node that a user is; undefined when it is none, empty when it does not say which. */
export function nodeNameOf({ name, groups }: User): string | undefined {
  if (!groups.includes(nodesGroup)) return undefined
  return name.startsWith(userPrefix) ? name.slice(userPrefix.length) : ''
}

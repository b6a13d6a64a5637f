// The agents of a node beside its kubelet: ServiceAccounts whose tokens a node may request for itself. The tokens are bound
// to the Node, so they end with it, and name it in every request.
import { lookup } from '../../../base/collections/lookup.ts'
import type { User } from '../../request/request.ts'
import { serviceAccountUser } from '../../request/user-names.ts'

export const nodeAgentNamespace = 'kube-system'
/** Routes the traffic of Services and enforces network policies. */
export const networkAgent = 'coxswain-network'
/** Provisions volumes of the class `local-path`. */
export const localPathAgent = 'coxswain-local-path'

const nodeAgents: readonly string[] = [localPathAgent, networkAgent]
/** A token is used for an hour, as those of controllers. */
export const nodeAgentTokenSecondsMax = 3_600

export const isNodeAgent = ({ namespace, name }: { readonly namespace: string; readonly name: string }): boolean =>
  namespace === nodeAgentNamespace && nodeAgents.includes(name)

const nodeNameKey = 'authentication.kubernetes.io/node-name'

/** The node that a `local-path` provisioner belongs to; undefined for other users, empty if its token is not bound to one. */
export function provisionerNodeOf({ name, extra }: User): string | undefined {
  if (name !== serviceAccountUser(nodeAgentNamespace, localPathAgent)) return undefined
  return lookup(extra, nodeNameKey)?.[0] ?? ''
}

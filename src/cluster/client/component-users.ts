// Who each component in this process is when it calls the API server. None is an administrator but the admin and the
// API server itself.
import { userWithName, type User } from '../../apiserver/request/request.ts'
import { assertedAccount, authenticatedGroup } from '../../apiserver/request/user-names.ts'

export const adminUser = userWithName('kubernetes-admin', ['system:masters', authenticatedGroup])
/** As upstream: the API server makes the first objects with every right. */
export const apiServerUser = userWithName('system:apiserver', ['system:masters', authenticatedGroup])
export const schedulerUser = userWithName('system:kube-scheduler', [authenticatedGroup])
/** Reads for all controllers; each writes under its own account. */
export const controllerManagerUser = userWithName('system:kube-controller-manager', [authenticatedGroup])
export const nodeUser = (name: string): User =>
  userWithName(`system:node:${name}`, ['system:nodes', authenticatedGroup])
export const controllerUser = (account: string): User => assertedAccount('kube-system', account)

// Who each component in this process is when it calls the API server. None is an administrator but the admin and the
// API server itself.
import { userNamed, type User } from '../apiserver/request.ts'
import { assertedAccount, authenticatedGroup } from '../apiserver/service-account-name.ts'

export const adminUser = userNamed('kubernetes-admin', ['system:masters', authenticatedGroup])
/** As upstream: the API server makes the first objects with every right. */
export const apiServerUser = userNamed('system:apiserver', ['system:masters', authenticatedGroup])
export const schedulerUser = userNamed('system:kube-scheduler', [authenticatedGroup])
/** Reads for all controllers; each writes under its own account. */
export const controllerManagerUser = userNamed('system:kube-controller-manager', [authenticatedGroup])
export const nodeUser = (name: string): User => userNamed(`system:node:${name}`, ['system:nodes', authenticatedGroup])
export const controllerUser = (account: string): User => assertedAccount('kube-system', account)

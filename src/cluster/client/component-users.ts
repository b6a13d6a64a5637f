// The users of this process's components at the API server. Only the admin, the API server itself and what
// applies the manifests of an administrator are administrators.
import { ownKubeletUser } from '../../apiserver/authorization/node/node-user.ts'
import { userWithName, type User } from '../../apiserver/request/request.ts'
import { assertedAccount, authenticatedGroup } from '../../apiserver/request/user-names.ts'

export const adminUser = userWithName('kubernetes-admin', ['system:masters', authenticatedGroup])
/** As upstream: the API server creates the bootstrap objects with all permissions. */
export const apiServerUser = userWithName('system:apiserver', ['system:masters', authenticatedGroup])
/** Manifests may contain anything. */
export const manifestsUser = userWithName('system:coxswain:manifests', ['system:masters', authenticatedGroup])
export const schedulerUser = userWithName('system:kube-scheduler', [authenticatedGroup])
/** As upstream's: its role allows it to read Services, endpoints and Nodes. */
export const proxyUser = userWithName('system:kube-proxy', [authenticatedGroup])
export const dnsUser = userWithName('system:coxswain:dns', [authenticatedGroup])
export const ingressUser = userWithName('system:coxswain:ingress', [authenticatedGroup])
export const csiSidecarsUser = userWithName('system:coxswain:csi-sidecars', [authenticatedGroup])
export const snapshotControllerUser = userWithName('system:coxswain:snapshot-controller', [authenticatedGroup])
export const localPathUser = userWithName('system:coxswain:local-path', [authenticatedGroup])
/** Used for reads; each controller writes under its own account. */
export const controllerManagerUser = userWithName('system:kube-controller-manager', [authenticatedGroup])
export const nodeUser = ownKubeletUser
export const controllerUser = (account: string): User => assertedAccount('kube-system', account)

// cluster-info: the public ConfigMap with the API server's address and authority, for nodes that join. Each bootstrap
// token signs it. The names are kubeadm's.
import { hostOfUrl } from '../../base/net/host-port.ts'
import type { Context } from '../../base/observability/context.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { role } from '../../api/rbac/v1/role.ts'
import { roleBinding } from '../../api/rbac/v1/role-binding.ts'
import { specialAddressErrors } from '../../api/validation/special-address-rules.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { Client } from '../../client/client.ts'
import { embeddedAuthorities } from '../../client/transport/kubeconfig-access.ts'
import { base64Text } from '../../pki/pem.ts'
import { createIfMissing, createOrPatch } from './bootstrap-objects.ts'

const namespace = 'kube-public'
const name = 'cluster-info'
const roleName = 'kubeadm:bootstrap-signer-clusterinfo'
const apiGroup = 'rbac.authorization.k8s.io'

export interface ClusterInfo {
  /** `https://host:port`. */
  readonly server: string
  /** PEM. */
  readonly authority: string
}

const kubeconfigOf = ({ server, authority }: ClusterInfo): string => `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${base64Text(authority)}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`

/**
 * Creates or updates it. A joining node has no credentials yet, so anyone may read this ConfigMap, but only if the
 * server can be reached from other machines.
 */
export async function publishClusterInfo(client: Client, info: ClusterInfo, context: Context): Promise<void> {
  const data = { kubeconfig: kubeconfigOf(info) }
  await createOrPatch(client, configMap, { metadata: { name, namespace }, data }, context)
  if (specialAddressErrors(hostOfUrl(new URL(info.server))).length === 0) await allowClusterInfo(client, context)
}

/** The authorities that a joining machine gets, as PEM. */
export async function publishedAuthorities(client: Client, context: Context): Promise<string> {
  const found = await client.of(configMap).find(name, namespace, context)
  const kubeconfig = lookup(found?.data, 'kubeconfig')
  if (kubeconfig === undefined) throw new Error(`the cluster publishes no CA in ${namespace}/${name}`)
  return embeddedAuthorities(kubeconfig)
}

/** Allows anyone to read it. */
export async function allowClusterInfo(client: Client, context: Context): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] }]
  await createIfMissing(client, role, { metadata: { name: roleName, namespace }, rules }, context)
  const roleRef = { apiGroup, kind: 'Role', name: roleName }
  const subjects = [{ apiGroup, kind: 'User', name: 'system:anonymous' }]
  await createIfMissing(client, roleBinding, { metadata: { name: roleName, namespace }, roleRef, subjects }, context)
}

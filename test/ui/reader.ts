// Users of one namespace: one who may read its pods, and one who may do everything in it.
import type { TestCluster } from '../../src/cluster/index.ts'
import { logIn } from './browser.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

/** The token of a user who may read the pods of the namespace, and nothing else. */
export const tokenOfReader = (cluster: TestCluster, namespace: string): Promise<string> =>
  tokenOf(cluster, namespace, 'reader', { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] })

/** The token of a user who may do everything in the namespace, and nothing elsewhere. */
export const tokenOfOwner = (cluster: TestCluster, namespace: string): Promise<string> =>
  tokenOf(cluster, namespace, 'owner', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] })

async function tokenOf(cluster: TestCluster, namespace: string, name: string, rule: Rule): Promise<string> {
  const metadata = { name, namespace }
  await cluster.apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [rule],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
  ])
  const admin = await logIn(cluster.kubeconfig)
  const { body } = await admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  return body.status.token
}

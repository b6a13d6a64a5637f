// A user who may read the pods of one namespace, and nothing else.
import type { TestCluster } from '../../src/cluster/index.ts'
import { logIn } from './browser.ts'

/** The token of the user. */
export async function tokenOfReader(cluster: TestCluster, namespace: string): Promise<string> {
  const metadata = { name: 'reader', namespace }
  await cluster.apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
  ])
  const admin = await logIn(cluster.kubeconfig)
  const { body } = await admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/reader/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  return body.status.token
}

// What the flood needs on a server: two namespaces, each with an account that may edit it, and objects to list.
import type { Access } from '../../test/access.ts'
import { Client } from './client.ts'

export interface Tokens {
  readonly hostile: string
  readonly calm: string
}

const objectsInNamespace = 2_000
const writers = 8

export async function prepare(access: Access): Promise<Tokens> {
  const admin = new Client(access)
  const tokens = { hostile: await account(admin, 'hostile'), calm: await account(admin, 'good') }
  await admin.make('/api/v1/namespaces/hostile/configmaps', { metadata: { name: 'target' } })
  admin.close()
  await Promise.all(Array.from({ length: writers }, (_, index) => fill(access, index)))
  return tokens
}

async function account(admin: Client, namespace: string): Promise<string> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  const metadata = { name: 'editor' }
  await admin.make('/api/v1/namespaces', { metadata: { name: namespace } })
  await admin.make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata })
  await admin.make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
  // Separate rules: the built-in roles are empty where no controller aggregates them.
  await admin.make(`${rbac}/roles`, {
    metadata,
    rules: [{ apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'pods', 'leases'], verbs: ['*'] }],
  })
  await admin.make(`${rbac}/rolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'editor' },
    subjects: [{ kind: 'ServiceAccount', name: 'editor', namespace }],
  })
  const tokens = `/api/v1/namespaces/${namespace}/serviceaccounts/editor/token`
  const made = await admin.make(tokens, { spec: { expirationSeconds: 7_200 } })
  return (JSON.parse(made) as { status: { token: string } }).status.token
}

async function fill(access: Access, writer: number): Promise<void> {
  const client = new Client(access)
  const data = { filling: 'x'.repeat(1_000) }
  for (let index = writer; index < objectsInNamespace; index += writers)
    await client.make('/api/v1/namespaces/hostile/configmaps', { metadata: { name: `filling-${index}` }, data })
  client.close()
}

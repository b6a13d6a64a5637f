// What the loads need on a server: a namespace, an account that may do everything, and the objects that are read and changed.
import type { Access } from '../../test/access.ts'
import { Client } from '../flood/client.ts'
import { core, group, leases, namespace, nodes, objectsStored } from './loads.ts'

const accounts = `${core}/serviceaccounts`
const definition = {
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 0, maximum: 1_000 },
                  color: { type: 'string', maxLength: 64, default: 'red' },
                  parts: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 64 } },
                },
                'x-kubernetes-validations': [{ rule: 'self.size < 900 || self.color != "red"' }],
              },
            },
          },
        },
      },
    ],
  },
}

/** Returns the account's token. */
export async function prepare(access: Access): Promise<string> {
  const client = new Client(access)
  try {
    await client.make('/api/v1/namespaces', { metadata: { name: namespace } })
    for (const name of ['default', 'load']) await client.make(accounts, { metadata: { name } })
    await client.make('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'load' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'load', namespace }],
    })
    await client.make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    for (let index = 0; index < objectsStored; index++) {
      await client.make(`${core}/configmaps`, { metadata: { name: `stored-${index}` }, data: { mode: 'production' } })
      await client.make(nodes, { metadata: { name: `node-${index}` } })
      await client.make(leases, { metadata: { name: `lease-${index}` }, spec: { leaseDurationSeconds: 40 } })
    }
    const made = await client.make(`${accounts}/load/token`, { spec: { expirationSeconds: 7_200 } })
    return (JSON.parse(made) as { status: { token: string } }).status.token
  } finally {
    client.close()
  }
}

import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { storedResource } from './stored-resource.ts'

const rows: [key: string, group: string, resource: string][] = [
  ['/registry/pods/default/a', '', 'pods'],
  ['/registry/minions/a', '', 'nodes'],
  ['/registry/services/specs/default/a', '', 'services'],
  ['/registry/deployments/default/a', 'apps', 'deployments'],
  ['/registry/leases/kube-system/a', 'coordination.k8s.io', 'leases'],
  ['/registry/stable.example.com/crontabs/default/a', 'stable.example.com', 'crontabs'],
  ['/registry/ranges/a', '', 'other'],
]
for (const [key, group, resource] of rows)
  test(`${key} belongs to ${resource}`, () => deepEqual(storedResource(key), { group, resource }))

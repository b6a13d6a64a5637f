// The order of groups and versions in discovery.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { APIService } from '../../api/apiregistration/v1/api-service.ts'
import { orderedVersions } from './served-groups.ts'

const served = (group: string, version: string, groupPriority: number, versionPriority: number, isRemote = true) =>
  ({
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: groupPriority,
      versionPriority,
      ...(isRemote ? { service: { namespace: 'n', name: 's' } } : {}),
    },
  }) as APIService

const local = [
  { group: '', version: 'v1' },
  { group: 'apiregistration.k8s.io', version: 'v1' },
  { group: 'batch', version: 'v1' },
  { group: 'apps', version: 'v1' },
  { group: 'b.example.com', version: 'v1beta1' },
  { group: 'b.example.com', version: 'v1' },
  { group: 'metrics.k8s.io', version: 'v1beta1' },
]

const cases: readonly [name: string, services: readonly APIService[], order: string][] = [
  [
    'without APIServices, groups have the priorities that they will have, and add-ons are not shown',
    [],
    'apiregistration.k8s.io/v1 /v1 apps/v1 batch/v1 b.example.com/v1,v1beta1',
  ],
  [
    'a group has the highest priority of its versions',
    [served('a.io', 'v1', 10, 1), served('a.io', 'v2', 17_900, 1)],
    'apiregistration.k8s.io/v1 /v1 a.io/v2,v1 apps/v1 batch/v1 b.example.com/v1,v1beta1',
  ],
  [
    'the version with the higher priority is first, then the newer one',
    [served('a.io', 'v1', 10, 5), served('a.io', 'v2', 10, 1), served('a.io', 'v3', 10, 1)],
    'apiregistration.k8s.io/v1 /v1 apps/v1 batch/v1 b.example.com/v1,v1beta1 a.io/v1,v3,v2',
  ],
  [
    'groups of the same priority are in alphabetical order',
    [served('c.io', 'v1', 1_000, 1), served('a.io', 'v1', 1_000, 1)],
    'apiregistration.k8s.io/v1 /v1 apps/v1 batch/v1 a.io/v1 b.example.com/v1,v1beta1 c.io/v1',
  ],
  [
    'an add-on is shown with its APIService, and a local version that is not served is not',
    [served('metrics.k8s.io', 'v1beta1', 100, 100, false), served('none.io', 'v1', 100, 100, false)],
    'apiregistration.k8s.io/v1 /v1 apps/v1 batch/v1 b.example.com/v1,v1beta1 metrics.k8s.io/v1beta1',
  ],
]

for (const [name, services, order] of cases)
  test(name, () => {
    const found = [...orderedVersions(local, services)].map(([group, versions]) => `${group}/${versions.join()}`)
    deepEqual(found.join(' '), order)
  })

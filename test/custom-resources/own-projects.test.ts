// Large definitions of our own. The expected messages have the form of those that upstream was recorded with for the same
// mistakes (test/facts/structural-values.json, exchanges/rules.jsonl, real-projects.test.ts).
import { ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { customResource, startCluster } from '../../src/cluster/index.ts'
import { capacity } from './definitions/capacity.ts'
import { deliverySet } from './definitions/delivery.ts'
import { projects } from './definitions/projects.ts'
import { testProject } from './project.suite.ts'

/** The largest definition of a widely used project has 346,416 bytes and 34 levels. */
const largestBytes = 346_416
const deepestLevels = 34

const levelsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0

test('the largest definition is as large and as deep as those of widely used projects', () => {
  const bytes = JSON.stringify(deliverySet).length
  const levels = levelsOf(deliverySet)
  ok(bytes >= largestBytes && levels >= deepestLevels, `${bytes} bytes, ${levels} levels`)
})

for (const [name, project] of Object.entries(projects)) testProject(name, project)

test('rules about the transition from one value to the next reject an update', async () => {
  await using cluster = await startCluster({ nodes: 0, crds: capacity.crds })
  const [crd] = capacity.crds
  const pools = cluster.client.of(customResource<object>(crd, 'v1'))
  const [sample] = capacity.samples
  await cluster.apply(sample.object)
  await rejects(pools.patch('plain', { spec: { replicas: 1 } }), {
    message: `Pool.capacity.example.com "plain" is invalid: spec: Invalid value: 'replicas' cannot be added or removed`,
  })
  await rejects(pools.patch('plain', { spec: { template: { spec: { classRef: { kind: 'Other' } } } } }), {
    message:
      'Pool.capacity.example.com "plain" is invalid: spec.template.spec.classRef: Invalid value: kind is immutable',
  })
})

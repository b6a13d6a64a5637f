// Large definitions of our own. The expected messages are those of upstream for the same requests.
import { ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { customResource, startCluster } from '../../src/cluster/index.ts'
import { greenhouses } from './definitions/greenhouses.ts'
import { projects } from './definitions/projects.ts'
import { timetable } from './definitions/timetables.ts'
import { testProject } from './project.suite.ts'

/** The largest definition of a widely used project has 346,416 bytes and 34 levels. */
const largestBytes = 346_416
const deepestLevels = 34

const levelsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0

test('the largest definition is as large and as deep as those of widely used projects', () => {
  const bytes = JSON.stringify(timetable).length
  const levels = levelsOf(timetable)
  ok(bytes >= largestBytes && levels >= deepestLevels, `${bytes} bytes, ${levels} levels`)
})

for (const [name, project] of Object.entries(projects)) testProject(name, project)

test('rules about the transition from one value to the next reject an update', async () => {
  await using cluster = await startCluster({ nodes: 0, crds: greenhouses.crds })
  const [, crd] = greenhouses.crds
  const client = cluster.client.of(customResource<object>(crd, 'v1'))
  const [sample] = greenhouses.samples
  await cluster.apply(sample.object)
  await rejects(client.patch('plain', { spec: { beds: 1 } }), {
    message: `Greenhouse.greenhouse.example.com "plain" is invalid: spec: Invalid value: 'beds' cannot be added or removed`,
  })
  await rejects(client.patch('plain', { spec: { soil: { mixture: 'Other' } } }), {
    message: 'Greenhouse.greenhouse.example.com "plain" is invalid: spec.soil: Invalid value: mixture is immutable',
  })
})

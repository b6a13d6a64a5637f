// A namespace is deleted while all kinds of workloads run in it as real containers: nothing remains, and nothing hangs.
// test/controllers/namespace-deletion.test.ts does the same on simulated nodes.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../until.ts'
import { workloadPods, workloads } from '../workloads.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp } from './up.harness.ts'

inNamespaces(import.meta.url, () => {
  test('a namespace with running workloads of every kind is deleted', async () => {
    await using up = await startRealUp()
    await up.k(['create', 'namespace', 'work'])
    await up.k(['apply', '-n', 'work', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: workloads(up.image) })
    const phases = () => up.k(['get', 'pods', '-n', 'work', '-o', 'jsonpath={.items[*].status.phase}'])
    await until(async () => (await phases()).split(' ').filter((phase) => phase === 'Running').length >= workloadPods)
    await up.k(['delete', 'namespace', 'work', '--timeout=200s'])
    equal(await up.k(['get', 'pods', '-n', 'work', '-o', 'name']), '')
    equal(await up.k(['get', 'namespaces', '-o', 'name', '--field-selector=metadata.name=work']), '')
  })
})

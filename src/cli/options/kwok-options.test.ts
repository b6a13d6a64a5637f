// The flags of coxswain kwok, and the Stages of its files, among them those of the page about it.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { kwokSettings } from './kwok-options.ts'

const folder = await mkdtemp(join(tmpdir(), 'coxswain-kwok-'))
after(() => rm(folder, { recursive: true }))

const file = async (name: string, content: string): Promise<string> => {
  await writeFile(join(folder, name), content)
  return join(folder, name)
}
const page = await readFile(new URL('../../../docs/kwok.md', import.meta.url), 'utf8')
const [, ofPage = ''] = /```yaml\n(apiVersion: kwok[^]*?)```/.exec(page) ?? []

test('nodes with the annotation are simulated, unless a flag names others', async () => {
  const annotation = [{ key: 'kwok.x-k8s.io/node', operator: 'Exists', values: [] }]
  const { nodes, stages, nodeIp, podRange, version } = await kwokSettings({}, '1.2.3')
  deepEqual(nodes, { by: 'annotations', selector: annotation })
  deepEqual([stages, nodeIp, podRange, version], [[], '10.0.0.1', '10.0.0.0/24', '1.2.3'])
  deepEqual((await kwokSettings({ 'manage-all-nodes': true }, '')).nodes, { by: 'all' })
  const { nodes: labelled } = await kwokSettings({ 'manage-nodes-with-label-selector': 'type=kwok' }, '')
  equal(labelled.by, 'labels')
  const { nodes: annotated } = await kwokSettings({ 'manage-nodes-with-annotation-selector': 'a=b' }, '')
  equal(annotated.by, 'annotations')
})

test('the Stages of the page are read from a file', async () => {
  const config = `${await file('page.yaml', ofPage)},${await file('empty.yaml', '')}`
  const { stages } = await kwokSettings({ config, cidr: '10.1.0.0/16', 'node-ip': '192.0.2.1' }, '')
  deepEqual(
    stages.map(({ name, weight, steps }) => [name, weight.value, steps.map(({ kind }) => kind)]),
    [
      ['pod-fails', 1, ['event', 'patch']],
      ['pod-runs', 9, ['patch']],
      ['pod-is-deleted', undefined, ['finalizers', 'delete']],
    ],
  )
})

const rejected: readonly (readonly [content: string, message: RegExp])[] = [
  ['apiVersion: v1\nkind: Pod\n', /config\.yaml: v1 Pod is not supported/],
  ['apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Metric\n', /kwok\.x-k8s\.io\/v1alpha1 Metric is not supported/],
  [
    ofPage.replace('.status.phase,', '.status.(,'),
    /Stage pod-fails: spec\.selector\.matchExpressions\[1\]: unexpected/,
  ],
  ['{', /config\.yaml: /],
]
for (const [content, message] of rejected)
  test(`a file with ${content.slice(0, 40).replaceAll('\n', ' ')} is rejected`, async () => {
    await rejects(kwokSettings({ config: await file('config.yaml', content) }, ''), (error: Error) => {
      match(error.message, message)
      return true
    })
  })

test('selectors are checked', () =>
  rejects(kwokSettings({ 'manage-nodes-with-label-selector': 'a in' }, ''), { name: 'UsageError' }))

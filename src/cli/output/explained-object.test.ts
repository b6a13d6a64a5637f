import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { context } from '../../base/observability/context.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { UsageError } from '../command/command.ts'
import { readerOf } from '../../flows/why/explainer/cluster-reader.ts'
import { explainedLines, explainedText, explainObject } from './explained-object.ts'

const { signal } = new AbortController()
const ctx = context(signal)
let cluster: TestCluster
before(async () => {
  cluster = await startCluster({ nodes: 1, https: true })
  const { client } = cluster
  const requests = { cpu: '1000' }
  const spec = { containers: [{ name: 'main', image: 'web', resources: { requests } }] }
  await client.of(pod).create({ metadata: { name: 'large' }, spec }, 'default', ctx)
  await cluster.until(async () => {
    const { status } = await client.of(pod).get('large', 'default', ctx)
    return (
      status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable') ?? false
    )
  })
  await client.of(configMap).create({ metadata: { name: 'settings' } }, 'default', ctx)
})
after(() => cluster.stop())

const chosen = () => {
  const { kubeconfig } = cluster
  return { kubeconfig, path: '', server: '', context: 'test', contexts: [], namespace: 'default' }
}
const large = { kind: pod, namespace: 'default', name: 'large' }
const settings = { kind: configMap, namespace: 'default', name: 'settings' }

test('a pod is explained with the decision of the scheduler', async () => {
  const explained = await explainObject(chosen(), large, signal)
  ok(explained.decision !== undefined && explained.waits.length > 0)
  const lines = await explainedLines(chosen(), large, signal)
  equal(lines[0], 'pod/large')
  match(lines.join('\n'), /Insufficient cpu/)
  equal(lines.at(-1)?.trim() === '', false)
})

test('other objects have no decision', async () => {
  const explained = await explainObject(chosen(), settings, signal)
  equal(explained.decision, undefined)
  deepEqual(await explainedLines(chosen(), settings, signal), ['configmap/settings', `  ${explained.summary}`])
})

test('an object that does not exist is a wrong argument, with a suggestion', () =>
  rejects(explainObject(chosen(), { ...large, name: 'larg' }, signal), (error) => {
    ok(error instanceof UsageError)
    match(error.message, /larg/)
    match(error.message, /large/)
    return true
  }))

test('the text has the sentences, or the summary where nothing is missing, and what was tried', () => {
  const nothing = { severity: 'info', waits: [], tried: [], notes: [], fixes: [] } as const
  const explained = { ...nothing, summary: 'it is ready', decision: undefined }
  equal(explainedText(large, explained), 'pod/large\n  it is ready\n')
  equal(
    explainedText(large, { ...explained, waits: ['it waits', 'for a node'], tried: ['create → 409'] }),
    'pod/large\n  it waits\n  for a node\n\nWhat was tried:\n  create → 409\n',
  )
  equal(
    explainedText(large, {
      ...explained,
      waits: ['it ends:\n| panic'],
      notes: ['a note'],
      fixes: ['kubectl a', 'kubectl b'],
    }),
    'pod/large\n  it ends:\n  | panic\n  a note\n\nFix: kubectl a\nFix: kubectl b\n',
  )
})

test('texts of objects neither control the terminal nor begin a line of their own', () => {
  const explained = {
    severity: 'error',
    tried: ['\x1b]0;t\x07a\nFix: b'],
    notes: [],
    summary: '',
    decision: undefined,
  } as const
  equal(
    explainedText(large, { ...explained, waits: ['\x1b[31mred\nFix: rm'], fixes: ["kubectl delete 'a\nFix: rm'"] }),
    "pod/large\n  red\n  Fix: rm\n\nWhat was tried:\n  ]0;ta\n  Fix: b\n\nFix: kubectl delete 'a\n  Fix: rm'\n",
  )
})

test('the reader finds objects and kinds around an object', async () => {
  const reader = readerOf(cluster.client, ctx, { nowMs: 0 })
  const names = async (namespace: string) =>
    (await reader.list(configMap, namespace)).map(({ metadata }) => metadata.name)
  ok((await names('default')).includes('settings'))
  ok((await names('')).includes('settings'))
  equal((await reader.find(configMap, 'default', 'settings'))?.metadata.name, 'settings')
  equal(await reader.find(configMap, 'default', 'none'), undefined)
  equal((await reader.kindOf?.('apps/v1', 'Deployment'))?.plural, 'deployments')
  equal(await reader.kindOf?.('example.com/v1', 'Ship'), undefined)
})

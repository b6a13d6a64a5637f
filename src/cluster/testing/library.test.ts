// The library as tests use it: short calls without contexts and namespaces, manifests, logs, commands and explanations.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import {
  configMap,
  context,
  deployment,
  namespace,
  node,
  pod,
  startCluster,
  StatusError,
  type ConfigMap,
  type Pod,
  type SimulatedProgram,
} from '../index.ts'

const manifest = `
apiVersion: v1
kind: Namespace
metadata: { name: blue }
---
# a comment alone
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: blue }
spec:
  replicas: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, image: busybox, command: [sh, -c, "echo hello; sleep infinity"] }] }
--- # the last one
apiVersion: v1
kind: List
items:
- { apiVersion: v1, kind: ConfigMap, metadata: { name: settings }, data: { color: red } }
`

test('calls need no context; a namespaced object without a namespace is in default', async () => {
  await using cluster = await startCluster()
  const maps = cluster.client.of(configMap)
  const made: ConfigMap = await maps.create({ metadata: { name: 'a' }, data: { x: '1' } })
  equal(made.metadata.namespace, 'default')
  equal((await maps.create({ metadata: { name: 'b', namespace: 'kube-system' } })).metadata.namespace, 'kube-system')
  equal((await maps.get('a')).data?.['x'], '1')
  equal((await maps.get('a', context(new AbortController().signal))).data?.['x'], '1')
  equal((await maps.get('b', 'kube-system')).metadata.name, 'b')
  equal(await maps.find('none'), undefined)
  equal((await maps.update({ ...made, data: { x: '2' } })).data?.['x'], '2')
  equal((await maps.patch('a', { data: { y: '3' } })).data?.['y'], '3')
  equal((await maps.patch('a', [{ op: 'remove', path: '/data/y' }])).data?.['y'], undefined)
  equal((await maps.patch('b', 'kube-system', { data: { z: '4' } }, 'merge')).data?.['z'], '4')
  ok((await maps.list()).items.length >= 2)
  equal((await maps.list({ namespace: 'kube-system', fieldSelector: 'metadata.name=b' })).items.length, 1)
  await maps.delete('a')
  await maps.delete('b', 'kube-system', { gracePeriodSeconds: 0 })
  equal(await maps.find('a'), undefined)
})

test('cluster-scoped objects need no namespace', async () => {
  await using cluster = await startCluster()
  const homes = cluster.client.of(namespace)
  await homes.create({ metadata: { name: 'blue' } })
  equal((await homes.get('blue')).status.phase, 'Active')
  equal((await homes.patch('blue', { metadata: { labels: { team: 'a' } } })).metadata.labels?.['team'], 'a')
  await homes.modify('blue', ({ metadata }) => (metadata.labels = { team: 'b' }))
  equal((await homes.get('blue')).metadata.labels?.['team'], 'b')
  equal((await cluster.client.of(node).get('node-0')).kind, 'Node')
  await homes.delete('blue')
  await cluster.until(async () => (await homes.find('blue')) === undefined)
})

test('modify reads again after a conflict, and gives up after several attempts', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  await maps.create({ metadata: { name: 'a' }, data: { count: '0' } })
  const countOn = (copy: { data?: Record<string, string> }) =>
    (copy.data = { count: String(Number(copy.data?.['count']) + 1) })
  await Promise.all([1, 2, 3, 4].map(() => maps.modify('a', 'default', countOn)))
  equal((await maps.get('a')).data?.['count'], '4')
  cluster.faults.reject({ verb: 'update', kind: configMap, times: 10 })
  await rejects(maps.modify('a', countOn), (error) => error instanceof StatusError && error.code === 409)
})

test('server-side apply: applied fields are owned, and other managers conflict unless forced', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const first = await maps.apply({ metadata: { name: 'a' }, data: { x: '1' } }, { fieldManager: 'one' })
  deepEqual(
    first.metadata.managedFields?.map(({ manager, operation }) => [manager, operation]),
    [['one', 'Apply']],
  )
  const other = { metadata: { name: 'a' }, data: { x: '2' } }
  await rejects(maps.apply(other, { fieldManager: 'two' }), /conflict with "one"/)
  equal((await maps.apply(other, { fieldManager: 'two', force: true })).data?.['x'], '2')
})

test('a manifest with several documents, lists and namespaces is applied in order', async () => {
  await using cluster = await startCluster()
  const applied = await cluster.apply(manifest)
  deepEqual(
    applied.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`),
    ['Namespace /blue', 'Deployment blue/web', 'ConfigMap default/settings'],
  )
  equal(
    (
      await cluster.apply(
        applied.slice(2).map(({ apiVersion, kind }) => ({ apiVersion, kind, metadata: { name: 'x' } })),
        { namespace: 'blue' },
      )
    )[0]?.metadata.namespace,
    'blue',
  )
  await rejects(cluster.apply('kind: Pod'), /a manifest needs an apiVersion and a kind/)
  await rejects(cluster.apply({ apiVersion: 'v1', kind: 'Pot' }), /no matches for kind "Pot" in version "v1"/)
})

test('logs, commands and explanations of running pods', async () => {
  const program: SimulatedProgram = async ({ clock, onCommand, terminated }) => {
    onCommand(async ([name = '']) => {
      await clock.sleep(5_000, terminated)
      return name === 'ls' ? { exitCode: 0, stdout: 'a\nb\n' } : { exitCode: 3, stderr: 'what?\n' }
    })
    await clock.sleep(3_600_000, terminated).catch(() => {})
    return 0
  }
  await using cluster = await startCluster({ simulation: { images: { program } } })
  await cluster.apply(manifest)
  const running = async () =>
    (await cluster.client.of(pod).list({ namespace: 'blue' })).items.find(({ status }) => status.phase === 'Running')
  const { metadata }: Pod = await cluster.until(running)
  await cluster.clock.advance('1s')
  equal(await cluster.logs(metadata.name, { namespace: 'blue' }), 'hello\n')
  equal(await cluster.logs(metadata.name, { namespace: 'blue', tailLines: 0 }), '')
  equal((await cluster.exec(metadata.name, ['cat', '/etc/hostname'], { namespace: 'blue' })).exitCode, 1)
  const refused = await cluster.exec(metadata.name, ['top'], { namespace: 'blue' })
  deepEqual([refused.exitCode, refused.stdout], [126, ''])
  match(refused.stderr, /"top" was not run: container c is simulated and has no programs/)
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'program' }] } })
  await cluster.until(async () => (await cluster.client.of(pod).get('p')).status.phase === 'Running')
  deepEqual(await cluster.exec('p', ['ls']), { exitCode: 0, stdout: 'a\nb\n', stderr: '' })
  deepEqual(await cluster.exec('p', ['rm']), { exitCode: 3, stdout: '', stderr: 'what?\n' })
  await rejects(cluster.exec('none', ['ls']), (error) => error instanceof StatusError && error.code === 404)
  await rejects(cluster.logs('none'), (error) => error instanceof StatusError && error.code === 404)
  await cluster.client
    .of(deployment)
    .patch('web', 'blue', { spec: { template: { spec: { nodeSelector: { no: 'where' } } } } })
  await cluster.clock.advance('5s')
  match(await cluster.why(deployment, 'web', 'blue'), /^deployment\/web\n {2}.*\n[^]*node\(s\) didn't match/)
  match(await cluster.why(await cluster.client.of(deployment).get('web', 'blue')), /^deployment\/web\n/)
  await rejects(cluster.why(pod, 'none'), /pods "none" not found/)
  match(
    await cluster.why(pod, 'p', 'default', { reach: '198.51.100.7:80' }),
    /^pod\/p to 198\.51\.100\.7:80\/TCP\n {2}Allowed/,
  )
  await rejects(cluster.why(pod, 'p', 'default', { reach: 'web' }), /"web" is none of pod\/<name>:<port>, /)
})

test('an until that fails reports the last state and its flow', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await cluster.client.of(pod).create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  const isRunning = async () => (await cluster.client.of(pod).get('p')).status.phase === 'Running'
  await rejects(cluster.until(isRunning, '2s'), ({ message }: Error) => {
    const [first, value, object] = message.split('\n')
    equal(first, "it did not come to that within 2s of the cluster's time")
    equal(value, 'last value: false')
    match(object ?? '', /^last object read: Pod default\/p \{/)
    match(message, /phase: 'Pending'/)
    match(message, /\nflow of Pod default\/p:\n[^]*test ──► API Server: create pods p → 201/)
    return true
  })
  await rejects(
    cluster.until(() => undefined, '1s'),
    /last value: undefined\nthe probe read no object/,
  )
})

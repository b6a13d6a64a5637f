// Static pods on a simulated node: running, mirror pods, changed files and invalid files.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import type { ManifestSource } from '../../machine/manifests/manifest-source.ts'
import { soloNode } from '../solo.harness.ts'
import { parseStaticPods } from './static-pod.ts'

const ctx = context(new AbortController().signal)
const digest = (text: string) =>
  `hash-${text.length}-${[...new TextEncoder().encode(text)].reduce((a, b) => (a * 31 + b) | 0, 7)}`
const deps = { nodeName: 'solo', digest }
const manifest = (name: string, image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers: [{name: c, image: ${image}}]\n`

test('a manifest becomes a pod of this node with the API server’s defaults', async () => {
  const [made] = await parseStaticPods({ name: '/m/web.yaml', text: manifest('web', 'i') }, 'file', deps)
  const { metadata, spec } = made ?? {}
  deepEqual(
    [metadata?.name, metadata?.namespace, spec?.nodeName, spec?.restartPolicy, spec?.tolerations?.at(-1)?.operator],
    ['web-solo', 'default', 'solo', 'Always', 'Exists'],
  )
  equal(metadata?.annotations?.['kubernetes.io/config.source'], 'file')
  equal(metadata?.annotations?.['kubernetes.io/config.hash'], metadata?.uid)
})

const bad: [why: string, text: string, message: RegExp][] = [
  ['no object', 'nonsense', /does not contain an object/],
  ['another kind', 'kind: Service\nmetadata: {name: x}', /contains a Service, not a Pod/],
  ['no name', 'kind: Pod\nspec: {}', /without a name/],
  ['no containers', 'kind: Pod\nmetadata: {name: x}\nspec: {containers: []}', /spec\.containers: Required value/],
]
for (const [why, text, message] of bad)
  test(`an invalid manifest: ${why}`, () => rejects(parseStaticPods({ name: 'f', text }, 'file', deps), message))

test('a PodList contains several pods', async () => {
  const text = JSON.stringify({
    kind: 'PodList',
    items: ['a', 'b'].map((name) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })),
  })
  const made = await parseStaticPods({ name: 'f', text }, 'http', deps)
  deepEqual(
    made.map(({ metadata }) => metadata.name),
    ['a-solo', 'b-solo'],
  )
})

async function startNode() {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const files = new Map<string, string>()
  let changed = Promise.withResolvers<void>()
  const source: ManifestSource = {
    kind: 'file',
    list: () => Promise.resolve([...files].map(([name, text]) => ({ name, text }))),
    waitForChange: (signal) => {
      signal.addEventListener('abort', () => changed.reject(signal.reason as Error), { once: true })
      return changed.promise
    },
  }
  const write = async (name: string, text: string | undefined) => {
    if (text === undefined) files.delete(name)
    else files.set(name, text)
    const previous = changed
    changed = Promise.withResolvers()
    previous.resolve()
    await clock.advance('40s')
  }
  const { runtime, start } = soloNode(cluster, { manifests: [source], digest })
  const tasks = start()
  await clock.advance('1s') // the source was read and waits for changes now
  const pods = client.of(pod)
  const seen = async () =>
    (await pods.list({}, ctx)).items.map(
      ({ metadata, spec, status }) => `${metadata.name} ${spec.containers[0]?.image} ${status.phase}`,
    )
  return {
    write,
    seen,
    pods,
    clock,
    runtime,
    async [Symbol.asyncDispose]() {
      tasks.stop()
      await tasks.join()
      await cluster.stop()
    },
  }
}

test('a static pod runs, has a mirror pod, and follows its file', async () => {
  await using node = await startNode()
  await node.write('web.yaml', manifest('web', 'one'))
  deepEqual(await node.seen(), ['web-solo one Running'])
  const mirror = await node.pods.get('web-solo', 'default', ctx)
  equal(mirror.status.qosClass, 'BestEffort')
  equal(mirror.status.observedGeneration, undefined, 'what a manifest says has no generation')
  await node.clock.advance('2m')
  const later = await node.pods.get('web-solo', 'default', ctx)
  equal(later.metadata.resourceVersion, mirror.metadata.resourceVersion, 'an equal status is not written again')
  match(mirror.metadata.annotations?.['kubernetes.io/config.mirror'] ?? '', /^hash-/)
  deepEqual(
    mirror.metadata.ownerReferences?.map(({ kind, name }) => [kind, name]),
    [['Node', 'solo']],
  )
  await node.write('web.yaml', manifest('web', 'two'))
  deepEqual(await node.seen(), ['web-solo two Running'])
  equal((await node.runtime.podUids(ctx.signal)).length, 1)
  await node.write('web.yaml', undefined)
  deepEqual(await node.seen(), [])
  deepEqual(await node.runtime.podUids(ctx.signal), [])
})

test('a deleted mirror pod is created again, and the static pod keeps running', async () => {
  await using node = await startNode()
  await node.write('web.yaml', manifest('web', 'one'))
  const before = await node.runtime.podUids(ctx.signal)
  const { metadata } = await node.pods.get('web-solo', 'default', ctx)
  await node.pods.delete('web-solo', 'default', {}, ctx)
  await node.clock.advance('40s')
  deepEqual(await node.seen(), ['web-solo one Running'])
  equal((await node.pods.get('web-solo', 'default', ctx)).metadata.uid === metadata.uid, false)
  deepEqual(await node.runtime.podUids(ctx.signal), before)
})

test('a file that becomes invalid keeps its pod running and does not affect others', async () => {
  await using node = await startNode()
  await node.write('a.yaml', manifest('a', 'one'))
  await node.write('a.yaml', '{broken')
  await node.write('b.yaml', manifest('b', 'one'))
  deepEqual((await node.seen()).toSorted(), ['a-solo one Running', 'b-solo one Running'])
})

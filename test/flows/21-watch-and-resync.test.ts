// Flow 21: how a watch continues: from a list, from a bookmark, and with a new list when its revision has expired;
// broken watches, without missing a change.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { FlowEvent, FlowId } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { Informer } from '../../src/client/informer/informer.ts'
import { DirectTransport } from '../../src/cluster/client/direct-transport.ts'
import { Faults, FaultyApiServer } from '../../src/cluster/testing/faults.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { configMap, deployment, pod, startCluster } from '../../src/cluster/index.ts'
import { eventText } from '../../src/flows/fold-branches.ts'
import { ctx, startBareCluster } from './bare-cluster.ts'
import { comparePage, excerpt, since, type Section } from './page.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

/**
 * The messages about a kind between the API server and these participants; revisions are numbered in order of
 * appearance.
 */
function messagesOf(events: Iterable<FlowEvent>, ...participants: string[]): string {
  const selected = [...events].filter(
    ({ arrow, from, to, object }) =>
      object?.resource === 'configmaps' &&
      arrow !== 'persist' &&
      participants.some((participant) => participant === from || participant === to),
  )
  const revisions = new Set<string>()
  const startMs = selected[0]?.atMs ?? 0
  const lines = selected.map((event) => {
    const time = `+${event.atMs - startMs}ms`.padStart(9)
    return `${time}  ${event.from} ${event.arrow === 'call' ? '──►' : '--►'} ${event.to}: ${eventText(event)}`
  })
  // Repeated pairs of a call and its delivery are shown once.
  const distinct = lines.filter((line, index) => line !== lines[index - 1] && line !== lines[index - 2])
  return distinct.join('\n').replaceAll(/@(\d+)/g, (_, revision: string) => {
    revisions.add(revision)
    return `@r${[...revisions].indexOf(revision) + 1}`
  })
}

/** A reader that keeps its list up to date, and the messages meanwhile. */
async function followed(): Promise<Section[]> {
  const faults = new Faults()
  await using bare = startBareCluster({
    newApiServer: (deps) => new FaultyApiServer(deps, faults),
    controllerManagers: 0,
    flowEvents: 1 << 18,
  })
  const { cluster, clock } = bare
  await clock.advance('1s')
  const maps = cluster.client('writer', adminUser).of(configMap)
  const read = cluster.client('reader', adminUser).of(configMap)
  const write = (name: string) => maps.create({ metadata: { name } }, 'default', ctx)
  const section = async (heading: string, text: string, act: () => Promise<void>): Promise<Section> => {
    const begin = (cluster.flow.last + 1) as FlowId
    await act()
    return { heading, text, diagram: messagesOf(cluster.flow.events(begin), 'reader', 'slow reader', 'writer') }
  }
  await write('a')
  await using tasks = new TaskGroup()
  const informer = new Informer(
    configMap,
    read,
    { clock, random: seededRandom(1), log: silentLog },
    { namespace: 'default' },
  )
  const known = () => [...informer.all()].map(({ metadata }) => metadata.name).toSorted()

  const listed = await section(
    'Listed, then watched',
    'A reader lists the objects and watches from the revision of the list. While nothing changes, the server sends a bookmark with its revision every minute. After a lost connection the reader resumes from the bookmark and receives the changes since then.',
    async () => {
      tasks.start('reader', (signal) => informer.run(signal))
      await clock.advance('1s')
      await write('b')
      await clock.advance('60s')
      equal(faults.breakWatches('reset', { sender: 'reader' }), 1)
      await write('c')
      await clock.advance('1s')
      deepEqual(known(), ['a', 'b', 'c'])
    },
  )
  match(
    listed.diagram,
    /list configmaps → 200\n.*watch configmaps @r1 → 200\n[^]*ADDED configmaps b\n.*BOOKMARK configmaps @r2\n[^]*watch configmaps @r2 → 200\n.*ADDED configmaps c$/,
  )

  const lagging = cluster.client('slow reader', adminUser).of(configMap)
  const forgotten = await section(
    'Too far behind',
    'The writer changes an object ten thousand times. The watch of a reader that does not read is ended, and its buffer is freed. Another reader has lost its connection and cannot reconnect meanwhile: when it can, its revision has expired (410), so it lists again.',
    async () => {
      const options = { namespace: 'default', resourceVersion: String(informer.revision) }
      const slow = lagging.watchBatches(options, ctx)[Symbol.asyncIterator]()
      const first = slow.next()
      await clock.advance('1s')
      faults.reject({ verb: 'watch', sender: 'reader', code: 503, times: 1_000 })
      equal(faults.breakWatches('reset', { sender: 'reader' }), 1)
      // More changes than the buffer of a watch and the history for resumed watches contain.
      for (let count = 0; count <= 10_002; count++)
        await maps.patch('a', 'default', { data: { count: String(count) } }, 'merge', ctx)
      await first
      await slow.next().then(
        () => ok(false, 'the watch of a reader that far behind ends with an error'),
        () => {},
      )
      faults.heal()
      await clock.advance('30s')
      equal([...informer.all()].find(({ metadata }) => metadata.name === 'a')?.data?.['count'], '10002')
    },
  )
  match(
    forgotten.diagram,
    /cut off configmaps[^]*reader ──► API Server: watch configmaps @r\d → 200\n.*list configmaps → 200/,
  )

  const streamed = await section(
    'Streamed instead of listed',
    'With sendInitialEvents the watch starts with the existing objects as events, followed by a bookmark.',
    async () => {
      const transport = new DirectTransport(() => cluster.server, 'reader', adminUser)
      const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }
      const call = { kind: configMap, namespace: 'default', name: '', query }
      for await (const batch of transport.watch(call, ctx)) {
        deepEqual(
          batch.map(({ type }) => type),
          ['ADDED', 'ADDED', 'ADDED', 'BOOKMARK'],
        )
        break
      }
    },
  )
  return [listed, streamed, forgotten]
}

test('21 watch and resync', async () => {
  const sections = await followed()
  await using cluster = await startCluster()
  const deployments = cluster.client.of(deployment)
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await deployments.create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await cluster.clock.advance('5s')
  for (const [index, how] of (['gone', 'reset', 'silence'] as const).entries()) {
    ok(cluster.faults.breakWatches(how) > 0)
    // No client reconnects before the change is made.
    for (const verb of ['list', 'watch'] as const) cluster.faults.reject({ verb, code: 503, times: 1_000 })
    await deployments.patch('web', 'default', { spec: { replicas: index + 2 } }, 'merge', ctx)
    if (how !== 'silence') cluster.faults.heal()
    await cluster.clock.advance('5s')
    cluster.faults.heal()
    await cluster.clock.advance('5s')
    equal((await cluster.client.of(pod).list({ namespace: 'default' }, ctx)).items.length, index + 2, how)
  }
  const flow = since(cluster.flow(deployment, 'web'), 'patch deployments web')
  match(flow, /controller\/replica-set ──► API Server: create pods web-\w+-\* → 201/)
  await comparePage('21-watch-and-resync', 'Watch and resync', [
    ...sections,
    {
      heading: 'Three scalings over broken watches',
      text: 'Before the first scaling all watches end with 410, so their clients list again. Before the second they end without an error and are resumed. Both times clients can reconnect only after the change was made. Before the third they stop delivering events: no component acts for five seconds, until the connections are detected as dead.',
      diagram: excerpt(flow, /test ──► API Server: patch/, /controller\/replica-set ──► API Server: create pods/),
    },
  ])
})

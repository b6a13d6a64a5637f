// Flow 20: queries: served from the cache of the API server or, for data that only the node has, by its kubelet.
import { equal, match } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FlowEvent } from '../../src/base/observability/flow-recorder.ts'
import { fetchFlowEvents } from '../../src/cluster/client/fetch-flow-events.ts'
import { context, pod, startCluster } from '../../src/cluster/index.ts'
import { eventText } from '../../src/flows/fold-branches.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { until } from '../until.ts'
import { comparePage } from './page.ts'

const ctx = context(new AbortController().signal)
const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')

/**
 * The calls of kubectl about an object and the calls that they cause, without times, because the speed of kubectl
 * varies.
 */
const callsOf = (events: readonly FlowEvent[], name: string): string => {
  const drawn = (event: FlowEvent, from: string, indent: string): string[] => [
    `${indent}${from} ──► ${event.to}: ${eventText(event)}`,
    ...events
      .filter(({ arrow, cause }) => arrow === 'call' && cause.event === event.id)
      .flatMap((next) => drawn(next, next.from, `${indent}  `)),
  ]
  const asked = events.filter(({ from, object }) => from.startsWith('kubectl') && object?.name === name)
  return asked.flatMap((event) => drawn(event, 'kubectl', '')).join('\n')
}

test(`20 query, kubectl ${kubectl.version}`, async () => {
  const command = (words: readonly string[]) =>
    Promise.resolve({ exitCode: words[0] === 'false' ? 3 : 0, stdout: `${words.join(' ')}\n` })
  const images = { web: { log: ['one', 'two'] }, gone: 'missing' as const }
  await using cluster = await startCluster({ time: 'flowing', simulation: { images, command } })
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-query-'))
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, cluster.kubeconfig)
  const k = (...args: string[]) => runKubectl(kubectl, kubeconfig, args)
  const create = (name: string, image: string, more: object = {}) =>
    cluster.client
      .of(pod)
      .create({ metadata: { name }, spec: { containers: [{ name: 'c', image }], ...more } }, 'default', ctx)
  const phaseOf = async (name: string) => (await cluster.client.of(pod).get(name, 'default', ctx)).status.phase
  await create('web', 'web')
  await until(async () => (await phaseOf('web')) === 'Running')

  match((await k('get', 'pod', 'web', '--no-headers')).out, /^web +1\/1 +Running/)
  equal((await k('logs', 'web', '--tail=1')).out, 'two\n')
  const failed = await k('exec', 'web', '--', 'false')
  equal(failed.code, 3, failed.err)
  const asked = callsOf(await fetchFlowEvents(cluster.kubeconfig, ctx.signal), 'web')
  match(asked, /get pods\/log web → 200/)
  match(asked, /API Server ──► kubelet\/node-0: logs web → 200\n/)
  match(asked, /get pods\/exec web/)
  match(
    asked,
    /API Server ──► kubelet\/node-0: exec web → 101\n {4}kubelet\/node-0 ──► Runtime: exec in container c web$/,
  )
  equal(asked.includes('false'), false, 'what is typed is not on the record')

  await create('unplaced', 'web', { nodeSelector: { no: 'where' } })
  match((await k('exec', 'unplaced', '--', 'true')).err, /pod unplaced does not have a host assigned/)
  await create('waiting', 'gone')
  await until(async () => (await phaseOf('waiting')) === 'Pending')
  const reason = async () =>
    (await cluster.client.of(pod).get('waiting', 'default', ctx)).status.containerStatuses?.[0]?.state?.waiting?.reason
  await until(async () => /Image/.test((await reason()) ?? ''))
  match(
    (await k('logs', 'waiting')).err,
    /container "c" in pod "waiting" is waiting to start: (trying and failing to pull image|image can't be pulled)/,
  )
  await cluster.kill('kubelet/node-0')
  match((await k('logs', 'web')).err, /no kubelet of node "node-0" answers/)
  const events = await fetchFlowEvents(cluster.kubeconfig, ctx.signal)
  const refused = ['unplaced', 'waiting'].map((name) => callsOf(events, name))
  const unanswered = callsOf(events, 'web').slice(asked.length).trim()
  match(refused.join('\n'), /get pods\/exec unplaced → 400 BadRequest[^]*get pods\/log waiting → 400 BadRequest/)
  match(unanswered, /get pods\/log web → 5/)

  await comparePage(
    '20-query',
    'Query',
    [
      {
        heading: 'Answers of the API server and of the node',
        text: '`kubectl get`, `logs` and `exec`: the first is served from the cache, the others are passed through to the kubelet of the node, which reads the log from its files and runs the command through the runtime.',
        diagram: asked,
      },
      {
        heading: 'Requests without an answer',
        text: 'A pod without a node has no kubelet, a container that waits for its image has no log, and a node that is down does not respond. Each error is the one that kubectl prints.',
        diagram: [...refused, unanswered].join('\n\n'),
      },
    ],
    [
      [
        '`logs` with `--follow`, `--previous`, `--since`, `--tail`; `attach`, `port-forward`, `cp`',
        'streamed in the same way',
        'test/end-to-end/streams.test.ts',
        'test/containers/streams.test.ts',
      ],
      ['`debug`', 'an ephemeral container is added to the pod', 'test/containers/pods.test.ts'],
      ['`top`', 'the usage that the runtime reports, through the metrics API', 'test/containers/resources.test.ts'],
    ],
  )
})

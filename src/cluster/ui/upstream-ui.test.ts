// What the page needs beyond the Kubernetes API, for a cluster whose API server does not have it.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import type { StreamedRequest, WireResponse } from '../../platform/http/listener.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { pod, startCluster, type TestCluster } from '../index.ts'
import { UpstreamUi } from './upstream-ui.ts'

let cluster: TestCluster
let ui: UpstreamUi

before(async () => {
  cluster = await startCluster({ nodes: 1 })
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { nodeSelector: { none: 'such' }, containers: [{ name: 'c', image: 'i' }] },
  }
  await cluster.client
    .of(deployment)
    .create({ metadata: { name: 'web' }, spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template } })
  await cluster.clock.advance('10s')
  const bytes = new Uint8Array([1])
  const files = new Map([['app-12345678.js', { contentType: 'text/javascript', bytes, tag: 't', encodings: [] }]])
  ui = new UpstreamUi({ client: cluster.client, clock: realClock, files: async () => files })
})
after(() => cluster.stop())

async function read(target: string, method = 'GET', signal = new AbortController().signal): Promise<WireResponse> {
  return ui.handle({ method, target, headers: {}, signal } as unknown as StreamedRequest)
}
const json = async (target: string): Promise<unknown> => JSON.parse(String((await read(target)).body))

test('explanations, problems and the overview are computed from what can be read', async () => {
  const { waits } = (await json(
    '/ui/api/why?group=apps&version=v1&resource=deployments&namespace=default&name=web',
  )) as { waits: string[] }
  match(waits.join(), /cannot be scheduled/)
  const { problems, tookMs } = (await json('/ui/api/problems?namespace=')) as {
    problems: { object: string }[]
    tookMs: number
  }
  deepEqual(
    problems.map(({ object }) => object),
    ['deployment/web'],
  )
  equal(typeof tookMs, 'number')
  const { health } = (await json('/ui/api/overview?namespace=default')) as { health: object[] }
  deepEqual(health[0], { resource: 'deployments.apps', well: 0, total: 1 })
})

test('a search finds objects by name and kind, also in one namespace', async () => {
  for (const [text, namespace, expected] of [
    ['web', '', ['web', /^web-/]],
    ['deployment web', 'default', ['web']],
    ['web', 'kube-system', []],
  ] as const) {
    const query = new URLSearchParams({ text, namespace })
    const { objects } = (await json(`/ui/api/search?${query}`)) as { objects: { name: string }[] }
    equal(objects.length, expected.length, text)
    for (const [at, name] of expected.entries()) match(objects[at]?.name ?? '', new RegExp(name))
  }
  await rejects(read('/ui/api/search?text='), /must have between 1 and 253 characters/)
})

test('what a pod reaches is explained; a wrong target is rejected with its forms', async () => {
  const { items } = await cluster.client.of(pod).list({ namespace: 'default' })
  const name = items[0]?.metadata.name ?? ''
  const target = (text: string) => `/ui/api/reach?${new URLSearchParams({ namespace: 'default', name, target: text })}`
  const { verdict, hops } = (await json(target('service/kubernetes'))) as { verdict: string; hops: object[] }
  deepEqual([verdict, hops], ['unreachable', []], verdict)
  await rejects(read(target('nowhere')), /target: must be pod\/<name>:<port>/)
  await rejects(read('/ui/api/reach?namespace=default&name=none&target=service/a'), /pods "none" not found/)
})

test('the stream has no events, and ends with the request', async () => {
  const stop = new AbortController()
  const { body } = await read('/ui/api/stream?past=0', 'GET', stop.signal)
  const lines = (body as AsyncIterable<string>)[Symbol.asyncIterator]()
  const { kind, isRecorded } = JSON.parse(String((await lines.next()).value)) as { kind: string; isRecorded: boolean }
  deepEqual([kind, isRecorded], ['ready', false])
  const end = lines.next()
  stop.abort()
  equal((await end).done, true)
  const events = (await read('/ui/api/events?count=5')).body as AsyncIterable<string>
  for await (const line of events) equal(line, '{"kind":"page","before":0}\n')
})

test('files are those of the page', async () => {
  const { status, headers } = await ui.file('/ui/app-12345678.js', {})
  deepEqual([status, headers['content-type']], [200, 'text/javascript'])
  await rejects(ui.file('/ui/none.js', {}))
})

for (const [what, target, method, expected] of [
  ['the history', '/ui/api/history?resource=pods', 'GET', /does not record what the page asks for/],
  [
    'a kind that is not known',
    '/ui/api/why?group=x&version=v1&resource=y&name=z',
    'GET',
    /is not a kind that is explained/,
  ],
  [
    'an object that does not exist',
    '/ui/api/why?group=&version=v1&resource=pods&namespace=default&name=none',
    'GET',
    /not found/,
  ],
] as const)
  test(`rejected: ${what}`, async () => {
    await rejects(read(target, method), expected)
  })

test('nothing is written', async () => {
  await rejects(read('/ui/api/clock', 'POST'))
})

// The web UI's endpoints of a whole cluster over HTTPS, as a browser uses them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { logIn, type Browser } from './browser.ts'

let cluster: TestCluster
let browser: Browser

before(async () => {
  cluster = await startCluster({ https: true })
  browser = await logIn(cluster.kubeconfig)
})
after(() => cluster.stop())

const pods = '/api/v1/namespaces/default/pods'
const podOf = (name: string, image: string, cpu = '1') => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image, resources: { requests: { cpu } } }] },
})
const about = (name: string) => `group=&version=v1&resource=pods&namespace=default&name=${name}`

test('the page lists, creates and deletes with the session, and only from its own origin', async () => {
  equal((await browser.call('POST', pods, podOf('a', 'web'))).status, 201)
  equal((await browser.call('GET', pods)).body.items.length, 1)
  equal((await browser.call('POST', pods, podOf('b', 'web'), { origin: 'https://evil.example' })).status, 403)
  equal((await browser.call('POST', pods, podOf('b', 'web'), { 'x-coxswain-ui': '' })).status, 403)
  equal((await browser.call('GET', pods, undefined, { 'sec-fetch-mode': 'navigate' })).status, 403)
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const socket = { ...upgrade, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
  const exec = `${pods}/a/exec?container=c&command=x&stdout=true`
  equal((await browser.call('GET', exec, undefined, { ...socket, origin: 'https://evil.example' })).status, 403)
  await cluster.clock.advance('10s')
  const channel = { ...socket, 'sec-websocket-protocol': 'v5.channel.k8s.io' }
  equal((await browser.call('GET', exec, undefined, channel)).status, 101)
})

test('the page has a strict content security policy', async () => {
  const { headers } = await browser.call('GET', '/ui/login', undefined, { cookie: '' })
  match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self'; style-src 'self'/)
  equal((await browser.call('GET', '/ui/..%2f..%2fpackage.json')).status, 404)
})

test('the stream has the recorded flow, then what happens', async () => {
  const lines = browser.follow('/ui/api/stream', ({ event }) => event?.object?.name === 'streamed')
  await browser.call('POST', pods, podOf('streamed', 'web'))
  const kinds = new Set((await lines).map(({ kind }) => kind))
  deepEqual([...kinds].toSorted(), ['event', 'ready'])
})

test('why, flow and history explain a pod that fits on no node', async () => {
  await browser.call('POST', pods, podOf('large', 'web', '1000'))
  await cluster.clock.advance('10s')
  const why = await browser.call('GET', `/ui/api/why?${about('large')}`)
  match(why.body.waits.join(' '), /Insufficient cpu/)
  const { roots } = (await browser.call('GET', `/ui/api/flow?${about('large')}`)).body
  equal(roots[0].event.what, 'create pods')
  const { revisions } = (await browser.call('GET', `/ui/api/history?${about('large')}`)).body
  deepEqual([revisions[0].sender, revisions.at(-1).request], ['scheduler', 'create pods'])
  const { oldest, newest } = (await browser.call('GET', '/ui/api/revisions')).body
  equal(oldest.revision < newest.revision, true)
  const exact = `${pods}?resourceVersion=${revisions.at(-1).revision - 1}&resourceVersionMatch=Exact`
  const names = (await browser.call('GET', exact)).body.items.map(
    (pod: { metadata: { name: string } }) => pod.metadata.name,
  )
  equal(names.includes('large'), false)
})

test('virtual time can be advanced by a duration and to the next event', async () => {
  const startMs = cluster.clock.nowMs()
  deepEqual((await browser.call('POST', '/ui/api/clock', { ms: 1_000 })).body, { nowMs: startMs + 1_000 })
  const { nowMs } = (await browser.call('POST', '/ui/api/clock', { to: 'next' })).body
  equal(nowMs > startMs + 1_000, true)
  equal((await browser.call('GET', '/ui/api/clock')).body.nowMs, nowMs)
  equal((await browser.call('POST', '/ui/api/clock', { ms: -1 })).status, 400)
})

test('after the logout the session is unknown', async () => {
  const other = await logIn(cluster.kubeconfig)
  equal((await other.call('POST', '/ui/logout')).status, 200)
  equal((await other.call('GET', pods)).status, 401)
  equal((await browser.call('GET', pods)).status, 200)
})

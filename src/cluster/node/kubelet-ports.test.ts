import { deepEqual, equal, rejects } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { once } from 'node:events'
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Client } from '../../client/client.ts'
import type { KubeletServer } from '../../kubelet/server/kubelet-server.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import { kubeletProcessSettings } from '../flags/kubelet-process-flags.ts'
import { selfSigned, type KubeletServerHolder } from './kubelet-port.ts'
import { listenForHealth, listenForRequests } from './kubelet-ports.ts'

const { signal } = new AbortController()
const host = '127.0.0.1'

async function get(origin: string, target: string) {
  const outbound = nodeOutbound.connect({ origin, tls: { insecureSkipVerify: true } })
  try {
    const { status, body } = await outbound.send({ method: 'GET', target, headers: {} }, signal)
    return { status, text: Buffer.concat(await Array.fromAsync(body)).toString() }
  } finally {
    await outbound.close()
  }
}

test('the health of a kubelet is served without TLS, on its own address and at its own path', async () => {
  await using cleanUps = new AsyncDisposableStack()
  const own = kubeletProcessSettings({ 'healthz-bind-address': '127.0.10.248' })
  await listenForHealth(own, cleanUps)
  const origin = 'http://127.0.10.248:10248'
  deepEqual(await get(origin, '/healthz'), { status: 200, text: 'ok' })
  deepEqual(await get(origin, '/healthz?verbose'), { status: 200, text: 'ok' })
  deepEqual(await get(origin, '/pods'), { status: 404, text: '404 page not found\n' })
})

test('without a port of health, nothing listens', async () => {
  await using cleanUps = new AsyncDisposableStack()
  await listenForHealth(
    kubeletProcessSettings({ 'healthz-port': '0', 'healthz-bind-address': '127.0.10.249' }),
    cleanUps,
  )
  await rejects(get('http://127.0.10.249:10248', '/healthz'))
})

/** No certificate is requested from the cluster in these tests. */
const noClient = {} as Client

async function listen(serving: ReturnType<typeof selfSigned> | undefined, holder: KubeletServerHolder) {
  const cleanUps = new AsyncDisposableStack()
  const tasks = cleanUps.use(new TaskGroup({ signal }))
  const own = { ...kubeletProcessSettings({ port: '0' }), serving }
  const deps = { client: noClient, clock: realClock, random: systemRandom, log: silentLog }
  const names = { nodeName: 'worker', hostIp: host, certificateDirectory: '/nowhere', authority: undefined }
  const { port } = await listenForRequests({ own, ...names, holder, deps }, tasks, cleanUps)
  return { port, [Symbol.asyncDispose]: () => cleanUps.disposeAsync() }
}

async function certificateAt(port: number): Promise<X509Certificate | undefined> {
  const socket = connect({ host, port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  return certificate
}

test('the port of a kubelet answers with 503 until the kubelet has started', async () => {
  const holder: KubeletServerHolder = { server: undefined }
  await using listening = await listen(undefined, holder)
  const origin = `https://${host}:${listening.port}`
  deepEqual(await get(origin, '/pods'), { status: 503, text: 'the kubelet starts' })
  const handle = () => Promise.resolve({ status: 401, headers: {}, body: 'Unauthorized' })
  holder.server = { handle } as unknown as KubeletServer
  deepEqual(await get(origin, '/pods'), { status: 401, text: 'Unauthorized' })
})

test('a kubelet has the certificate that it is given, and otherwise one of its own for its name and address', async () => {
  const given = selfSigned('other', '127.0.0.3')
  await using first = await listen(given, { server: undefined })
  equal((await certificateAt(first.port))?.fingerprint256, new X509Certificate(given.certificate).fingerprint256)
  await using second = await listen(undefined, { server: undefined })
  const own = await certificateAt(second.port)
  equal(own?.checkHost('worker'), 'worker')
  equal(own?.checkIP(host), host)
})

// The addresses of a cluster's API server, while the server itself does not run.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { Cluster } from './cluster.ts'
import { serve } from './serve.ts'

const { signal } = new AbortController()
const host = '127.0.0.1'
const options = { clock: realClock, random: systemRandom, log: silentLog, platform: nodePlatform, nodes: 0 }

async function serveStopped() {
  const certificates = temporaryCertificates({ ...options, hosts: [host] })
  const { policies } = buildRequestPolicies({ ...options, ...certificates })
  const controllerSettings = { certificateAuthority: () => certificates.authority }
  const cluster = new Cluster({ ...options, policies, store: new MemoryStore(realClock), controllerSettings })
  const server = await serve(cluster, { ...options, host, port: 0, certificates })
  return { server, certificates, [Symbol.asyncDispose]: () => server.close(0) }
}

async function get(address: string, port: number, target = '/readyz') {
  const outbound = nodeOutbound.connect({ origin: `https://${address}:${port}`, tls: { insecureSkipVerify: true } })
  try {
    const { status, headers, body } = await outbound.send({ method: 'GET', target, headers: {} }, signal)
    const text = Buffer.concat(await Array.fromAsync(body)).toString()
    return { status, type: headers['content-type'], retryAfter: headers['retry-after'], text }
  } finally {
    await outbound.close()
  }
}

async function certificateAt(port: number): Promise<string> {
  const socket = connect({ host, port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

test('while no API server runs, every address answers with 503', async () => {
  await using served = await serveStopped()
  const { server } = served
  const ui = await server.listenForUi(host, 0)
  for (const port of [server.port, ui]) {
    const { status, type, retryAfter, text } = await get(host, port)
    deepEqual({ status, type, retryAfter }, { status: 503, type: 'application/json', retryAfter: '1' })
    equal((JSON.parse(text) as { reason: string }).reason, 'ServiceUnavailable')
  }
})

test('a further address answers those that it accepts', async () => {
  await using served = await serveStopped()
  const { server } = served
  const seen: string[] = []
  let isAccepted = true
  const accepts = (remoteAddress: string) => {
    seen.push(remoteAddress)
    return isAccepted
  }
  await server.addListener({ host: '127.0.0.2', port: server.port, accepts })
  equal((await get('127.0.0.2', server.port)).status, 503)
  isAccepted = false
  const { status, text } = await get('127.0.0.2', server.port)
  deepEqual({ status, text }, { status: 403, text: 'only pods of this machine may use this address\n' })
  equal((await get(host, server.port)).status, 503)
  deepEqual(seen, [host, host])
})

test('renewed certificates are those of all addresses', async () => {
  await using served = await serveStopped()
  const { server } = served
  const ui = await server.listenForUi(host, 0)
  const before = await certificateAt(server.port)
  equal(await certificateAt(ui), before)
  await server.renew(temporaryCertificates({ ...options, hosts: [host] }))
  const after = await certificateAt(server.port)
  notEqual(after, before)
  equal(await certificateAt(ui), after)
})

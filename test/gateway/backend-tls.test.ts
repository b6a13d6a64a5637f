// BackendTLSPolicies: each test has the name of a conformance test of the Gateway API, and checks the behaviour that it is
// about, with servers that speak TLS.
import { deepEqual, equal } from 'node:assert/strict'
import { request, type Server } from 'node:http'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import { createServer } from 'node:https'
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import type { Condition } from '../../src/api/meta/v1/condition.ts'
import { backendTlsPolicy, type BackendTlsPolicy } from '../../src/gateway/kinds/policy-kinds.ts'
import { startBackend } from '../ingress/ingress.harness.ts'
import { until } from '../until.ts'
import { authority, startStage, to, type Stage } from './gateway.harness.ts'

let stage: Stage
const hostname = 'web.example.com'
/** The names that clients have sent, in order. */
const serverNames: string[] = []

before(async () => {
  stage = await startStage()
  const { certificate: cert, key } = authority.issue({
    subject: { commonName: 'secured', organizations: [] },
    uses: ['server'],
    dnsNames: [hostname, 'other.example.com'],
  })
  const tls = { cert, key, SNICallback: (name: string, done: (error: null) => void) => done((serverNames.push(name), null)) } // prettier-ignore
  const secured = createServer(tls, (_, response) => response.end('secured'))
  secured.on('upgrade', (incoming, socket: Duplex) => {
    const accepted = createHash('sha1').update(
      `${incoming.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    )
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accepted.digest('base64')}\r\n\r\n`) // prettier-ignore
    socket.end()
  })
  const { port } = stage.cleanUps.use(await startBackend(() => {}, secured))
  const grpc = createSecureServer(tls, (_, response) => response.end('h2'))
  const sessions = new Set<ServerHttp2Session>()
  grpc.on('session', (session) => sessions.add(session))
  const closeAllConnections = () => sessions.forEach((session) => session.destroy())
  const { port: grpcPort } = stage.cleanUps.use(
    await startBackend(() => {}, Object.assign(grpc, { closeAllConnections }) as unknown as Server),
  )
  for (const name of ['secured', 'second', 'third', 'fourth']) await stage.addService(name, 'default', port)
  await stage.addService('grpc', 'default', grpcPort, 'kubernetes.io/h2c')
  await addAuthority('ca', authority.certificate)
})
after(() => stage[Symbol.asyncDispose]())

const addAuthority = (name: string, text: string) =>
  stage.client.of(configMap).create({ metadata: { name }, data: { 'ca.crt': text } }, 'default')
const addPolicy = (
  name: string,
  service: string,
  validation: Partial<BackendTlsPolicy['spec']['validation']> = {},
  sectionName?: string,
) =>
  stage.client.of(backendTlsPolicy).create({
    metadata: { name },
    spec: {
      targetRefs: [
        { group: '', kind: 'Service', name: service, ...(sectionName === undefined ? {} : { sectionName }) },
      ],
      validation: { hostname, caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'ca' }], ...validation },
    },
  })
/** Waits for `Accepted ResolvedRefs` as reasons of the entry for the Gateway. */
async function settled(name: string, expected: string): Promise<void> {
  let last = ''
  const reasonOf = (conditions: readonly Condition[], type: string) =>
    conditions.find((each) => each.type === type)?.reason
  try {
    await until(async () => {
      const [ancestor] = (await stage.client.of(backendTlsPolicy).get(name)).status?.ancestors ?? []
      last = ['Accepted', 'ResolvedRefs'].map((type) => reasonOf(ancestor?.conditions ?? [], type)).join(' ')
      return last === expected
    })
  } catch {
    equal(last, expected)
  }
}
const bodyOf = async (port: number, path = '/') => {
  const { status, body } = await stage.get(port, path)
  return status === 200 ? body : String(status)
}

suite('BackendTLSPolicy', () => {
  test('BackendTLSPolicy', async () => {
    await stage.addSimple('secured', 4001, [{ backendRefs: [to('secured')] }])
    equal((await bodyOf(4001)).length > 0, true)
    await addPolicy('own', 'secured')
    await settled('own', 'Accepted ResolvedRefs')
    equal(await bodyOf(4001), 'secured')
    equal(serverNames.at(-1), hostname)
    const { status } = await stage.client.of(backendTlsPolicy).get('own')
    deepEqual(status?.ancestors[0]?.ancestorRef, { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'default', name: 'secured' }) // prettier-ignore

    const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-version': '13' } // prettier-ignore
    const place = await stage.placeOf(4001)
    const upgraded = Promise.withResolvers<number>()
    request({ ...place, headers: { host: 'a', ...headers } })
      .on('upgrade', (response, socket) => (socket.destroy(), upgraded.resolve(response.statusCode ?? 0)))
      .on('response', (response) => upgraded.resolve(response.statusCode ?? 0))
      .on('error', upgraded.reject)
      .end()
    equal(await upgraded.promise, 101)

    await stage.client.of(backendTlsPolicy).modify('own', (policy) => {
      policy.spec.validation.hostname = 'wrong.example.com'
    })
    await until(async () => (await bodyOf(4001)) === '502')
    await settled('own', 'Accepted ResolvedRefs')
  })

  test('BackendTLSPolicyObservedGenerationBump', async () => {
    const { metadata } = await stage.client.of(backendTlsPolicy).modify('own', (policy) => {
      policy.spec.validation.hostname = hostname
    })
    await until(async () => {
      const { status } = await stage.client.of(backendTlsPolicy).get('own')
      const conditions = status?.ancestors[0]?.conditions ?? []
      return conditions.length === 2 && conditions.every((each) => each.observedGeneration === metadata.generation)
    })
    equal(await bodyOf(4001), 'secured')
  })

  test('BackendTLSPolicyInvalidCACertificateRef', async () => {
    await stage.addSimple('broken', 4002, [{ backendRefs: [to('second')] }])
    await addPolicy('broken', 'second', { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'later' }] })
    const invalid = 'NoValidCACertificate InvalidCACertificateRef'
    await settled('broken', invalid)
    equal(await bodyOf(4002), '500')
    // The ConfigMap decides as soon as it changes.
    await addAuthority('later', authority.certificate)
    await settled('broken', 'Accepted ResolvedRefs')
    equal(await bodyOf(4002), 'secured')
    await stage.client.of(configMap).modify('later', (object) => void (object.data = { 'ca.crt': '' }))
    await settled('broken', invalid)
    equal(await bodyOf(4002), '500')
  })

  test('BackendTLSPolicyInvalidKind', async () => {
    await stage.client.of(backendTlsPolicy).modify('broken', (policy) => {
      policy.spec.validation.caCertificateRefs = [{ group: '', kind: 'Secret', name: 'ca' }]
    })
    await settled('broken', 'NoValidCACertificate InvalidKind')
    equal(await bodyOf(4002), '500')
  })

  test('BackendTLSPolicyConflictResolution', async () => {
    await stage.addSimple('conflict', 4003, [{ backendRefs: [to('third')] }])
    await addPolicy('conflict-1', 'third')
    await addPolicy('conflict-2', 'third', { hostname: 'wrong.example.com' })
    await settled('conflict-1', 'Accepted ResolvedRefs')
    await settled('conflict-2', 'Conflicted ResolvedRefs')
    equal(await bodyOf(4003), 'secured')
    await addPolicy('conflict-3', 'third', { hostname: 'other.example.com' }, 'web')
    await settled('conflict-3', 'Accepted ResolvedRefs')
    await until(async () => (await bodyOf(4003)) === 'secured' && serverNames.at(-1) === 'other.example.com')
  })

  test('BackendTLSPolicySANValidation', async () => {
    await stage.addSimple('names', 4004, [{ backendRefs: [to('fourth')] }])
    const named = (...names: string[]) => names.map((name) => ({ type: 'Hostname', hostname: name }))
    // The hostname is only sent, because there are alternative names.
    await addPolicy('names', 'fourth', { hostname: 'sent.example.com', subjectAltNames: named('x.com', hostname) })
    await settled('names', 'Accepted ResolvedRefs')
    equal(await bodyOf(4004), 'secured')
    equal(serverNames.at(-1), 'sent.example.com')
    await stage.client.of(backendTlsPolicy).modify('names', (policy) => {
      policy.spec.validation = { ...policy.spec.validation, hostname, subjectAltNames: named('x.com') }
    })
    await until(async () => (await bodyOf(4004)) === '502')
  })

  test('HTTP/2 to the endpoints', async () => {
    await stage.addSimple('grpc', 4005, [{ backendRefs: [to('grpc')] }])
    await addPolicy('grpc', 'grpc')
    await settled('grpc', 'Accepted ResolvedRefs')
    equal(await bodyOf(4005), 'h2')
    await stage.client.of(backendTlsPolicy).modify('grpc', (policy) => {
      policy.spec.validation.hostname = 'wrong.example.com'
    })
    await until(async () => (await bodyOf(4005)) === '502')
  })
})

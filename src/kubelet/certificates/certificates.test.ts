// Certificates of the kubelet: requesting, denial, storage in one file, and rotation.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Client } from '../../client/client.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { Authority } from '../../pki/authority.ts'
import { parseCertificateRequest } from '../../pki/parse-certificate-request.ts'
import { base64Text } from '../../pki/pem.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { CertificateFile } from './certificate-file.ts'
import { isExpired, rotateCertificate, renewalMs } from './rotating-certificate.ts'
import { requestCertificate } from './signing-request.ts'

type Condition = { readonly type: string; readonly reason?: string; readonly message?: string }

/** An API server that signs every request immediately, with the given lifetime, or denies it. */
function world(lifetimeMs: number, answer: 'sign' | 'nothing' | 401 | Condition = 'sign') {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const random = seededRandom(1)
  const authority = Authority.create('ca', { clock, random, crypto: nodeCrypto })
  const requested: { name: string; signerName: string; usages: readonly string[]; request: string }[] = []
  const state = { answer }
  const statusOf = (request: string, usages: readonly string[]) => {
    if (state.answer === 'sign')
      return { certificate: base64Text(authority.sign(parseCertificateRequest(request), usages, lifetimeMs)) }
    return typeof state.answer === 'object' ? { conditions: [{ status: 'True', ...state.answer }] } : {}
  }
  const requests = {
    create({ metadata: { name }, spec }: { metadata: { name: string }; spec: (typeof requested)[0] }) {
      if (state.answer === 401) return Promise.reject(new StatusError(401, 'Unauthorized', 'Unauthorized'))
      if (requested.some((one) => one.name === name))
        return Promise.reject(new StatusError(409, 'AlreadyExists', 'already exists'))
      requested.push({ ...spec, name, request: atob(spec.request) })
      return Promise.resolve({})
    },
    list({ fieldSelector = '' }: { fieldSelector?: string }) {
      const found = requested.filter(({ name }) => fieldSelector === `metadata.name=${name}`)
      const items = found.map(({ name, request, usages }) => ({
        metadata: { name, uid: name, resourceVersion: '1' },
        status: statusOf(request, usages),
      }))
      return Promise.resolve({ items, revision: 1, continueToken: '' })
    },
    async *watchBatches(_: unknown, { signal }: { signal: AbortSignal }) {
      yield []
      await clock.sleep(3_600_000, signal)
    },
  }
  const written: string[] = []
  const files = {
    read: () => Promise.resolve(written.length === 0 ? undefined : new TextEncoder().encode(written.at(-1))),
    write: (_: string, content: string | Uint8Array) => Promise.resolve(void written.push(String(content))),
  }
  const client = { of: () => requests } as unknown as Client
  const file = new CertificateFile('/pki/kubelet-client-current.pem', files)
  return { clock, random, client, log: silentLog, crypto: nodeCrypto, asked: requested, file, written, state }
}

const { signal } = new AbortController()
const template = { use: 'client', nodeName: 'n' } as const

test('a client certificate is requested for the node, a serving certificate with its addresses', async () => {
  const deps = world(3_600_000)
  const key = nodeCrypto.generateKey()
  match(await requestCertificate(template, key, deps, signal), /^-----BEGIN CERTIFICATE-----/)
  const serving = { use: 'serving', nodeName: 'n', addresses: ['10.0.0.7'] } as const
  await requestCertificate(serving, key, deps, signal)
  deepEqual(
    deps.asked.map(({ signerName, usages }) => [signerName, usages]),
    [
      ['kubernetes.io/kube-apiserver-client-kubelet', ['digital signature', 'client auth']],
      ['kubernetes.io/kubelet-serving', ['digital signature', 'server auth']],
    ],
  )
  const [client, server] = deps.asked.map(({ request }) => parseCertificateRequest(request))
  deepEqual(client?.subject, { commonName: 'system:node:n', organizations: ['system:nodes'] })
  deepEqual(
    [server?.altNames.dnsNames, server?.altNames.addresses.map((bytes) => [...bytes])],
    [['n'], [[10, 0, 0, 7]]],
  )
})

test('a restart with the same key uses the existing request', async () => {
  const deps = world(3_600_000, 'nothing')
  const key = nodeCrypto.generateKey()
  const gone = new AbortController()
  const first = requestCertificate(template, key, deps, gone.signal)
  await deps.clock.advance('1s')
  gone.abort()
  await rejects(first)
  deps.state.answer = 'sign'
  ok(await requestCertificate(template, key, deps, signal))
  equal(deps.asked.length, 1)
})

test('a denied or failed request reports why', async () => {
  for (const [type, text] of [
    ['Denied', 'is denied'],
    ['Failed', 'failed'],
  ] as const) {
    const deps = world(1, { type, reason: 'No', message: 'not you' })
    const asking = requestCertificate(template, nodeCrypto.generateKey(), deps, signal)
    await rejects(asking, new RegExp(`certificate signing request node-csr-\\S+ ${text}, reason: No, message: not you`))
  }
})

test('a request is abandoned after 15 minutes', async () => {
  const deps = world(1, 'nothing')
  const asking = rejects(
    requestCertificate(template, nodeCrypto.generateKey(), deps, signal),
    /was not approved in time/,
  )
  await deps.clock.advance('15m')
  await asking
})

test('certificate and key are in one file, and an incomplete file is ignored', async () => {
  const { file, written, random, clock } = world(1)
  equal(await file.read(), undefined)
  const identity = Authority.create('ca', { clock, random, crypto: nodeCrypto }).issue({
    subject: { commonName: 'c', organizations: [] },
    uses: ['client'],
  })
  await file.write(identity)
  deepEqual(await file.read(), identity)
  written.push(identity.certificate)
  equal(await file.read(), undefined)
})

test('a certificate is renewed after 70 to 90 % of its lifetime, with a new key each time', async () => {
  const hourMs = 3_600_000
  const deps = world(100 * hourMs)
  const issued = await requestCertificate(template, nodeCrypto.generateKey(), deps, signal)
  const startMs = deps.clock.nowMs()
  for (let draw = 0; draw < 50; draw++) {
    const share = (renewalMs(issued, deps.random) - startMs) / (100 * hourMs)
    ok(share > 0.69 && share < 0.9, String(share))
  }
  const renewals: string[] = []
  const stop = new AbortController()
  const running = rotateCertificate(
    { certificate: issued, key: '' },
    { ...deps, template, onChange: ({ key }) => renewals.push(key) },
    stop.signal,
  )
  await deps.clock.advance('60h')
  equal(renewals.length, 0)
  await deps.clock.advance('31h')
  equal(renewals.length, 1)
  await deps.clock.advance('91h')
  equal(renewals.length, 2)
  equal(new Set(renewals).size, 2)
  equal(deps.written.length, 2)
  stop.abort()
  await rejects(running)
})

test('a failed renewal is retried; an expired certificate stops the kubelet', async () => {
  const deps = world(3_600_000)
  const first = { certificate: await requestCertificate(template, nodeCrypto.generateKey(), deps, signal), key: '' }
  deps.state.answer = 401
  const ended = rejects(
    rotateCertificate(first, { ...deps, template, onChange() {} }, signal),
    /kubelet-client-current.pem has expired/,
  )
  await deps.clock.advance('59m')
  equal(isExpired(first.certificate, deps.clock.nowMs()), false)
  await deps.clock.advance('10m')
  await ended
})

import { deepEqual, equal, match, ok, throws } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { once } from 'node:events'
import { X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import { silentLog, type Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { Client } from '../../client/client.ts'
import type { Cluster } from '../run/cluster.ts'
import { serveComponent } from '../run/component-server.ts'
import { clusterCertificates, type ClusterCertificates } from './cluster-certificates.ts'
import { serve } from '../run/serve.ts'
import { expiriesInDirectory, expiriesInMetrics, expiriesOf, expiryGauge } from './certificate-expiry.ts'
import { renewCertificates } from './certificate-renewal.ts'
import { machineNames, servingHosts, tlsSansOf } from './serving-hosts.ts'

const directory = await mkdtemp(join(tmpdir(), 'coxswain-certificates-'))
after(() => rm(directory, { recursive: true, force: true }))

const machine = { hostname: 'box', addresses: ['10.0.0.5', '2001:db8::5'] }
const hostRows: [host: string, sans: string[], hosts: string[]][] = [
  ['127.0.0.1', [], ['127.0.0.1']],
  ['0.0.0.0', [], ['10.0.0.5', '2001:db8::5', 'box']],
  ['::', ['k8s.example'], ['10.0.0.5', '2001:db8::5', 'box', 'k8s.example']],
  ['10.0.0.5', ['10.0.0.5', '192.0.2.1'], ['10.0.0.5', '192.0.2.1']],
]
for (const [host, sans, hosts] of hostRows)
  test(`a server at ${host} with ${sans.join(' and ') || 'no more names'} is reached at ${hosts.join(', ')}`, () =>
    deepEqual(servingHosts(host, sans, machine), hosts))

const sanRows: [text: string | undefined, sans: string[]][] = [
  [undefined, []],
  ['', []],
  ['A.example, b,,::FFFF:1.2.3.4', ['a.example', 'b', '::ffff:102:304']],
  ['*.example.com,2001:DB8:0::1,10.0.0.1', ['*.example.com', '2001:db8::1', '10.0.0.1']],
]
for (const [text, sans] of sanRows) test(`--tls-san ${text}`, () => deepEqual(tlsSansOf(text), sans))
for (const text of ['a b', '-a', '0.0.0.0', '::', 'a..b', `${'a'.repeat(64)}.b`, 'http://a'])
  test(`--tls-san ${text} is refused`, () => throws(() => tlsSansOf(text), /is neither a DNS name nor an IP address/))

const dayMs = 86_400_000
const startMs = Date.UTC(2030, 0, 1)

/** The certificate that a server presents to a new connection. */
async function shownBy(port: number): Promise<X509Certificate> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const shown = socket.getPeerX509Certificate()
  socket.destroy()
  ok(shown)
  return shown
}

test('a running server renews all certificates before they expire and when its addresses change', async () => {
  let hosts: readonly string[] = ['10.0.0.5']
  const deps = { platform: nodePlatform, random: systemRandom }
  const first = await clusterCertificates(`${directory}/pki`, { ...deps, clock: new VirtualClock(startMs), hosts })
  const clock = new VirtualClock(startMs + 242 * dayMs)
  const issue = (named: readonly string[]) => clusterCertificates(`${directory}/pki`, { ...deps, clock, hosts: named })
  const none = { server: undefined } as unknown as Cluster
  const served = await serve(none, {
    host: '127.0.0.1',
    port: 0,
    certificates: first,
    platform: nodePlatform,
    clock,
    log: silentLog,
  })
  const applied: ClusterCertificates[] = []
  /**
   * Advances the clock until this many renewals were applied. Files and sockets are real and need turns of the event
   * loop.
   */
  const untilApplied = async (count: number) => {
    while (applied.length < count) {
      await clock.advance(60_000)
      await eventLoopTurn()
    }
  }
  let failures = 0
  const errors: string[] = []
  const log: Log = {
    ...silentLog,
    error: (message, fields) => void errors.push(`${message} ${String(fields?.['error'])}`),
  }
  const ending = new AbortController()
  const running = renewCertificates(
    { certificates: first, hosts },
    {
      clock,
      log,
      hosts: () => hosts,
      async renew(named) {
        const fresh = await issue(named)
        if (failures-- > 0) throw new Error('the disk is full')
        await served.renew(fresh)
        applied.push(fresh)
        return fresh
      },
    },
    ending.signal,
  ).catch(() => {})

  const before = await shownBy(served.port)
  await clock.advance(dayMs)
  equal(applied.length, 0, 'more than a third of a year is left')

  await untilApplied(1)
  const renewed = applied[0] ?? first
  const shown = await shownBy(served.port)
  ok(shown.fingerprint256 !== before.fingerprint256)
  ok(Date.parse(shown.validTo) > startMs + 600 * dayMs, shown.validTo)
  for (const { name, notAfterMs } of expiriesOf(renewed)) ok(notAfterMs > startMs + 600 * dayMs, name)
  equal(renewed.authority, first.authority, 'authorities stay')

  hosts = ['10.0.0.5', '10.0.0.6']
  failures = 1
  await untilApplied(2)
  match((await shownBy(served.port)).subjectAltName ?? '', /IP Address:10\.0\.0\.6/)
  deepEqual(errors, ['certificates could not be renewed; tried again in a minute the disk is full'])

  hosts = ['10.0.0.5']
  const { length } = applied
  await clock.advance(600_000)
  equal(applied.length, length, 'an address that is gone is no reason')
  ending.abort()
  await running
  await served.close(0)
})

test('the expiry of each certificate is a metric, can be read back from it, and is known from the files', async () => {
  const at = join(directory, 'data')
  const deps = { platform: nodePlatform, clock: new VirtualClock(startMs), random: systemRandom, hosts: ['0.0.0.0'] }
  const certificates = await clusterCertificates(`${at}/pki`, deps)
  const metrics = new Metrics()
  expiryGauge(metrics)(certificates)
  match(metrics.text(), /^coxswain_certificate_expiration_timestamp_seconds\{name="apiserver"\} 19\d{8}$/m)
  deepEqual(expiriesInMetrics(metrics.text()), expiriesOf(certificates))
  await writeFile(`${at}/pki/broken.crt`, '')
  const names = (await expiriesInDirectory(at)).map(({ name }) => name)
  deepEqual(names.toSorted(), [
    'apiserver-kubelet-client',
    'ca',
    'controller-manager',
    'front-proxy-ca',
    'front-proxy-client',
    'kubelet',
    'scheduler',
  ])
  deepEqual(await expiriesInDirectory(join(directory, 'none')), [])
})

test('the certificate of a server on a wildcard address lists all addresses of the machine instead', async () => {
  const hosts = servingHosts('0.0.0.0', ['k8s.example'], { ...machineNames(), hostname: 'box' })
  const deps = { platform: nodePlatform, clock: new VirtualClock(startMs), random: systemRandom, hosts }
  const { serving } = await clusterCertificates(join(directory, 'wild'), deps)
  const { subjectAltName = '' } = new X509Certificate(serving.certificate)
  for (const name of [
    'DNS:box',
    'DNS:k8s.example',
    'IP Address:127.0.0.1',
    ...machineNames()
      .addresses.filter((one) => !one.includes(':'))
      .map((one) => `IP Address:${one}`),
  ])
    ok(subjectAltName.split(', ').includes(name), `${name} in ${subjectAltName}`)
  ok(!subjectAltName.includes('0.0.0.0'))
})

test('a component renews the certificate of its own port', async () => {
  const clock = new VirtualClock(startMs)
  const client = undefined as unknown as Client
  const listener = await serveComponent({ host: '127.0.0.1', port: 0, metrics: new Metrics(), clock, client })
  const before = await shownBy(listener.port)
  await clock.advance(200 * dayMs)
  equal((await shownBy(listener.port)).fingerprint256, before.fingerprint256)
  await clock.advance(60 * dayMs)
  const renewed = await shownBy(listener.port)
  ok(Date.parse(renewed.validTo) > startMs + 600 * dayMs, renewed.validTo)
  await listener.close(0)
})

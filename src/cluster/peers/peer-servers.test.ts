import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import type { OutboundOptions, OutboundProvider, OutboundRequest } from '../../platform/http/outbound.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { originAnnotation, PeerServers, type OwnServer, type PeerServer } from './peer-servers.ts'

const { signal } = new AbortController()
const labelsOn = (machine: string) => ({
  'apiserver.kubernetes.io/identity': 'kube-apiserver',
  'kubernetes.io/hostname': machine,
})

test('the other servers are those with a Lease, at the address that it names', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client } = cluster
  const leases = [
    ['apiserver-own', 'here', 'https://192.0.2.1:6443'],
    ['apiserver-b', 'there', 'https://192.0.2.2:6443'],
    ['apiserver-c', 'here', 'https://127.0.0.1:7443'],
    ['apiserver-d', 'there', 'https://127.0.0.1:6443'],
    ['apiserver-e', 'there', 'https://[::1]:6443'],
    ['apiserver-f', 'there', 'https://localhost:6443'],
    ['apiserver-g', 'there', 'http://192.0.2.3:6443'],
    ['apiserver-h', 'there', 'nowhere'],
    ['apiserver-i', 'there', undefined],
  ] as const
  for (const [name, machine, origin] of leases) {
    const annotations = origin === undefined ? {} : { [originAnnotation]: origin }
    const metadata = { name, labels: labelsOn(machine), annotations }
    await client.of(lease).create({ metadata, spec: { holderIdentity: `${name}_1` } }, 'kube-system', context(signal))
  }
  const known: { own?: OwnServer } = {}
  const outbound = {} as OutboundProvider
  const peers = new PeerServers({ client, outbound, tls: () => ({}), own: () => known.own })
  deepEqual(await peers.list(signal), [])
  known.own = { lease: 'apiserver-own', machine: 'here' }
  deepEqual(
    (await peers.list(signal)).map(({ holder, name, origin }) => [holder, name, origin]),
    [
      ['apiserver-b_1', 'apiserver-b on there', 'https://192.0.2.2:6443'],
      ['apiserver-c_1', 'apiserver-c on here', 'https://127.0.0.1:7443'],
      ['apiserver-d_1', 'apiserver-d on there', undefined],
      ['apiserver-e_1', 'apiserver-e on there', undefined],
      ['apiserver-f_1', 'apiserver-f on there', undefined],
      ['apiserver-g_1', 'apiserver-g on there', undefined],
      ['apiserver-h_1', 'apiserver-h on there', undefined],
      ['apiserver-i_1', 'apiserver-i on there', undefined],
    ],
  )
})

const peer: PeerServer = { holder: 'b_1', name: 'b', origin: 'https://192.0.2.2:6443' }

/** Servers that answer with a status and some pieces of text, and what they were asked. */
function answering(status: number, ...pieces: readonly string[]) {
  const asked: { options?: OutboundOptions; request?: OutboundRequest; isClosed: boolean } = { isClosed: false }
  const body = async function* () {
    for (const piece of pieces) yield new TextEncoder().encode(piece)
  }
  const outbound = {
    connect(options: OutboundOptions) {
      asked.options = options
      return {
        send: (request: OutboundRequest) => {
          asked.request = request
          return Promise.resolve({ status, headers: {}, body: body() })
        },
        close: () => Promise.resolve(void (asked.isClosed = true)),
      }
    },
  } as unknown as OutboundProvider
  const tls = () => ({ authority: 'CA', certificate: 'CERT', key: 'KEY' })
  return { asked, peers: new PeerServers({ client: {} as never, outbound, tls, own: () => undefined }) }
}

test('a server is asked as the API server, with the certificate of a front proxy', async () => {
  const { asked, peers } = answering(200, 'grün', ' und', ' blau')
  equal((await Array.fromAsync(peers.read(peer, '/path', signal))).join(''), 'grün und blau')
  deepEqual(asked.options, {
    origin: 'https://192.0.2.2:6443',
    tls: { authority: 'CA', certificate: 'CERT', key: 'KEY' },
  })
  deepEqual(asked.request, {
    method: 'GET',
    target: '/path',
    headers: { accept: 'application/json', 'x-remote-user': 'system:apiserver' },
  })
  equal(asked.isClosed, true)
})

test('a refusal is an error with the beginning of its text', async () => {
  const { asked, peers } = answering(401, 'x'.repeat(150), 'y'.repeat(150), 'z'.repeat(150))
  await rejects(Array.fromAsync(peers.read(peer, '/path', signal)), {
    message: `it answered 401: ${'x'.repeat(150)}${'y'.repeat(50)}`,
  })
  equal(asked.isClosed, true)
})

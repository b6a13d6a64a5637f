// What other API servers serve, from their discovery documents.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { PeerDiscovery } from './peer-discovery.ts'
import type { PeerServer } from './peer-servers.ts'

const groups = (...names: readonly (readonly [group: string, version: string, resource: string])[]) =>
  JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    items: names.map(([name, version, resource]) => ({
      metadata: { name },
      versions: [{ version, resources: [{ resource }] }],
    })),
  })

/** Servers with their documents; one without a document does not answer. */
class Servers {
  list: readonly PeerServer[] = []
  readonly documents = new Map<string, string>()
  readonly reads: string[] = []
  authority: string | undefined = 'ca'

  async *read({ holder }: PeerServer, path: string): AsyncGenerator<string> {
    this.reads.push(`${holder} ${path}`)
    const document = this.documents.get(`${holder} ${path}`)
    if (document === undefined) throw new Error('no answer')
    for (let at = 0; at < document.length; at += 20) yield document.slice(at, at + 20)
  }
}

const server = (holder: string, origin?: string): PeerServer => ({ holder, name: `${holder} on m`, origin })

test('a resource leads to a server that has it, until the server has ended or does not respond', async () => {
  const clock = new VirtualClock()
  const servers = new Servers()
  const peers = {
    list: () => Promise.resolve(servers.list),
    read: (peer: PeerServer, path: string) => servers.read(peer, path),
    get authority() {
      return servers.authority
    },
  }
  const discovery = new PeerDiscovery({ peers, clock, log: silentLog })
  const stop = new AbortController()
  const running = discovery.run(stop.signal).catch(() => {})
  const found = (group: string, version: string, plural: string) => discovery.at(group, version, plural)?.peer

  await clock.advance('1s')
  equal(found('new.k8s.io', 'v1', 'things'), undefined)

  servers.list = [server('a', 'https://192.0.2.1:6443'), server('silent', 'https://192.0.2.2:6443'), server('hidden')]
  servers.documents.set('a /api', groups(['', 'v1', 'pods']))
  servers.documents.set('a /apis', groups(['new.k8s.io', 'v1', 'things']))
  await clock.advance('5s')
  equal(found('new.k8s.io', 'v1', 'things'), 'https://192.0.2.1:6443')
  equal(found('', 'v1', 'pods'), 'https://192.0.2.1:6443')
  for (const [group, version, plural] of [
    ['new.k8s.io', 'v2', 'things'],
    ['new.k8s.io', 'v1', 'others'],
    ['', 'v2', 'pods'],
  ] as const)
    equal(found(group, version, plural), undefined)
  await clock.advance('10s')
  equal(servers.reads.filter((each) => each.startsWith('a ')).length, 2, 'a process is read once')

  const before = discovery.at('new.k8s.io', 'v1', 'things')
  equal(discovery.at('new.k8s.io', 'v1', 'things'), before)
  servers.authority = 'next'
  const extension = discovery.at('new.k8s.io', 'v1', 'things')
  deepEqual(extension?.tls, { authority: 'next' })

  if (extension !== undefined) discovery.failed(extension)
  equal(found('new.k8s.io', 'v1', 'things'), undefined)
  await clock.advance('5s')
  equal(found('new.k8s.io', 'v1', 'things'), 'https://192.0.2.1:6443')

  servers.list = []
  await clock.advance('5s')
  equal(found('new.k8s.io', 'v1', 'things'), undefined)
  stop.abort()
  await running
})

test('documents that cannot be read and lists that fail are tried again', async () => {
  const clock = new VirtualClock()
  let lists = 0
  const reads: string[] = []
  const peers = {
    list: () => {
      if (lists++ === 0) return Promise.reject(new Error('no etcd'))
      return Promise.resolve([server('a', 'https://192.0.2.1:6443')])
    },
    async *read(_: PeerServer, path: string): AsyncGenerator<string> {
      reads.push(path)
      yield reads.length === 1 ? '{' : reads.length === 2 ? groups(['', 'v1', 'pods']) : '{}'
    },
    authority: undefined,
  }
  const discovery = new PeerDiscovery({ peers, clock, log: silentLog })
  const stop = new AbortController()
  const running = discovery.run(stop.signal).catch(() => {})
  await clock.advance('6s')
  equal(discovery.at('', 'v1', 'pods'), undefined)
  await clock.advance('5s')
  deepEqual(discovery.at('', 'v1', 'pods')?.tls, {})
  stop.abort()
  await running
})

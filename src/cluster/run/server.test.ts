// How a machine becomes a server, up to the start of etcd: the error when it cannot, and what is written when it can.
// Whole control planes are in test/server/.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { allowClusterInfo, publishClusterInfo } from '../bootstrap/cluster-info.ts'
import type { ServerBundle } from '../bootstrap/server-bundle.ts'
import { createServerToken } from '../bootstrap/server-token.ts'
import { parseJoinToken, pinnedToken } from '../client/join-token-text.ts'
import { readMarker } from '../data-directory/directory-marker.ts'
import { openDataDirectory } from '../data-directory/open-directory.ts'
import { restoreDirectory } from '../data-directory/restore-snapshot.ts'
import { collectServerFiles } from '../data-directory/server-files.ts'
import { startJoinable } from './joinable-cluster.harness.ts'
import { server, type ServerOptions } from './server.ts'
import { up } from './up.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const home = await mkdtemp(join(tmpdir(), 'coxswain-server-'))
after(() => rm(home, { recursive: true, force: true }))
let count = 0

function optionsFor(given: Partial<ServerOptions>): ServerOptions {
  const dataDirectory = join(home, String(count++))
  const kubeconfigPath = `${dataDirectory}/admin.kubeconfig`
  return {
    dataDirectory,
    kubeconfigPath,
    host: undefined,
    store: undefined,
    start: undefined,
    port: 0,
    log: silentLog,
    ...given,
  }
}

/** An etcd that nothing runs. */
const nowhere = { kind: 'etcd', endpoints: ['http://127.0.0.1:1'], tlsPaths: {} } as const

const refusals: readonly [name: string, given: Partial<ServerOptions>, message: RegExp][] = [
  ['nothing says what it becomes', {}, /there is no server in .*; begin a control plane with --init, or join one/],
  ['it has no address', { start: { kind: 'init' } }, /^Error: --bind is missing: the address at which/],
  [
    'its address is all',
    { start: { kind: 'init' }, host: '0.0.0.0' },
    /--bind 0\.0\.0\.0 is not the address of a machine/,
  ],
  ['its address is a name', { start: { kind: 'init' }, host: 'a.example' }, /--bind a\.example is not the address/],
]
for (const [name, given, message] of refusals)
  test(`a machine does not become a server: ${name}`, async () => {
    const options = optionsFor(given)
    await rejects(server(options, signal), message)
    equal((await readMarker(options.dataDirectory))?.server, undefined)
  })

test('the directory of another cluster is not taken over, and that of a server is not used by up', async () => {
  const options = optionsFor({ start: { kind: 'init' }, host: '127.0.0.1' })
  const { dataDirectory, kubeconfigPath } = options
  const place = { dataDirectory, kubeconfigPath, host: '127.0.0.1', port: 0, nodes: 0, log: silentLog }
  await (await up({ ...place, store: { kind: 'sqlite' } }))[Symbol.asyncDispose]()
  const token = parseJoinToken(`K10${'0'.repeat(64)}::abcdef.0123456789abcdef.${'0'.repeat(64)}`, [])
  const joining = { ...options, start: { kind: 'join', server: 'https://127.0.0.1:1', token } as const }
  await rejects(server(joining, signal), /has the cluster of "coxswain up"; choose another --data-dir/)
  // Its objects are moved only when etcd is there.
  const moving = optionsFor({ start: { kind: 'init' }, host: '127.0.0.1', store: nowhere, dataDirectory })
  await rejects(server(moving, signal), /etcd cannot be reached/)
  equal(existsSync(`${dataDirectory}/store.db`), true)
  // Nor is a snapshot restored over a server.
  await writeFile(`${home}/backup`, '')
  await rejects(
    restoreDirectory(dataDirectory, `${home}/backup`, undefined, signal),
    /is the data directory of a server/,
  )
  await rejects(collectServerFiles(`${home}/nothing`), /there is no server in .*; run this on a server/)
  const begun = optionsFor({ start: { kind: 'init' }, host: '127.0.0.1', store: nowhere })
  await rejects(server(begun, signal), /etcd cannot be reached/)
  const other = { ...place, dataDirectory: begun.dataDirectory, store: { kind: 'sqlite' } as const }
  await rejects(up(other), /is the data directory of a server; start it with "coxswain server", or move/)
})

test('the address of a member does not change', async () => {
  const options = optionsFor({ host: '127.0.0.2' })
  {
    await using directory = await openDataDirectory(options.dataDirectory, 'cluster')
    const member = { name: 'a', address: '127.0.0.3', endpoints: [] }
    await directory.note({ server: { host: '127.0.0.3', settings: {}, member } })
  }
  await rejects(
    server(options, signal),
    /--bind 127\.0\.0\.2: the member of etcd of this machine has the address 127\.0\.0\.3/,
  )
})

test('a machine that joins gets the files, the settings and the etcd of the other servers', async () => {
  await using cluster = await startJoinable()
  const { admin, server: served } = cluster
  const { authority } = served.access
  await publishClusterInfo(admin, { server: served.url, authority }, ctx)
  await allowClusterInfo(admin, ctx)
  const bundle: ServerBundle = {
    files: {
      'ca.crt': authority,
      'ca.key': 'the key',
      'front-proxy-ca.crt': '1',
      'front-proxy-ca.key': '2',
      'sa.key': '3',
      'etcd/ca.crt': 'etcd',
      'encryption-config.yaml': 'kind: EncryptionConfiguration',
    },
    settings: { 'cluster-cidr': '10.1.0.0/16' },
    store: { kind: 'external', endpoints: ['https://127.0.0.1:1'] },
  }
  const joining = async (given: ServerBundle) => {
    const deps = { client: admin, random: systemRandom, clock: realClock }
    const created = await createServerToken(deps, { validMs: 3_600_000 }, given, ctx)
    const token = parseJoinToken(pinnedToken(created, authority, nodeCrypto), [])
    return { kind: 'join', server: served.url, token } as const
  }
  const start = await joining(bundle)

  const different = optionsFor({ start, nodeRangeFlags: { 'cluster-cidr': '10.2.0.0/16' } })
  await rejects(
    server(different, signal),
    /--cluster-cidr 10\.2\.0\.0\/16: the other servers of the cluster have 10\.1/,
  )
  equal(existsSync(`${different.dataDirectory}/pki`), false)

  const hostile = optionsFor({ start: await joining({ ...bundle, files: { ...bundle.files, '../../x': 'y' } }) })
  await rejects(server(hostile, signal), /"\.\.\/\.\.\/x" is no file of a server/)
  equal(existsSync(`${hostile.dataDirectory}/pki`), false)

  const managed: ServerBundle = { ...bundle, store: { kind: 'managed', endpoints: ['https://127.0.0.1:1'] } }
  const both = optionsFor({ start: await joining(managed), store: nowhere })
  await rejects(server(both, signal), /--store: the other servers of the cluster run their own etcd/)

  const joined = optionsFor({ start })
  // The certificate of etcd's CA is none, which is the first thing that is needed of it.
  await rejects(server(joined, signal))
  const { dataDirectory } = joined
  equal(await readFile(`${dataDirectory}/pki/ca.key`, 'utf8'), 'the key')
  equal((await stat(`${dataDirectory}/pki/ca.key`)).mode & 0o777, 0o600)
  const marker = await readMarker(dataDirectory)
  deepEqual(marker?.server, { host: '127.0.0.1', settings: bundle.settings })
  deepEqual(marker?.etcd, {
    endpoints: bundle.store.endpoints,
    tlsPaths: { authority: `${dataDirectory}/pki/etcd/ca.crt` },
    wasEmpty: false,
  })
  // It passes on what it got.
  const { files, ...rest } = await collectServerFiles(dataDirectory)
  const { 'encryption-config.yaml': _, ...others } = bundle.files
  deepEqual([files, rest], [others, { settings: bundle.settings, store: bundle.store }])
})

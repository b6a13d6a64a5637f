// The revision of a new etcd is raised without a write for each revision, in every version of etcd. Members that join get the same
// revisions, not those of a log of writes.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { mustParseIp, type IpAddress } from '../../src/base/net/ip-address.ts'
import { createLog } from '../../src/base/observability/log.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { openDataDirectory } from '../../src/cluster/data-directory/open-directory.ts'
import { openStore } from '../../src/cluster/data-directory/open-store.ts'
import { clientUrlOf } from '../../src/cluster/etcd/etcd-member.ts'
import { startManagedEtcd } from '../../src/cluster/run/managed-etcd.ts'
import { copyStore } from '../../src/store/copy-store.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { etcds } from '../etcd.ts'
import { addresses } from './server-process.ts'

const { signal } = new AbortController()
const wanted = 50_000_000

const put = (store: Store, key: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new TextEncoder().encode(key) }] }, signal)

async function contents(store: Store) {
  const { items } = await store.range({ start: '/registry/', end: '/registry0' }, signal)
  return items.map(({ key, createRevision, modRevision, version }) => [key, createRevision, modRevision, version])
}

for (const { path, version } of etcds())
  test(`the revision of etcd ${version} is raised in its file`, { timeout: 300_000 }, async () => {
    await using ended = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-bump-'))
    ended.defer(() => rm(folder, { recursive: true, force: true }))
    const lines: string[] = []
    const log = createLog({ clock: realClock, write: (line) => lines.push(line), format: 'text', level: 'info' })
    const { processes, files } = nodePlatform
    const deps = { processes, files, clock: realClock, random: systemRandom, log, platform: nodePlatform }
    const start = async (address: IpAddress, others: readonly IpAddress[], revision?: number) => {
      const directory = ended.use(await openDataDirectory(join(folder, address), 'cluster'))
      for (const other of others.slice(0, 1)) {
        await mkdir(join(folder, address, 'pki', 'etcd'), { recursive: true, mode: 0o700 })
        for (const name of ['ca.crt', 'ca.key'])
          await cp(join(folder, other, 'pki', 'etcd', name), join(folder, address, 'pki', 'etcd', name))
      }
      const member = { name: `m-${address.split('.')[1]}`, address, endpoints: [address, ...others].map(clientUrlOf) }
      const managed = ended.use(
        await startManagedEtcd({ directory, member, executable: { path, version }, revision }, deps, signal),
      )
      // Reads of this member only.
      const endpoints = [clientUrlOf(address)]
      return ended.adopt(await openStore({ ...managed.store, endpoints, isManaged: false }, ''), (store) =>
        store.close(),
      )
    }
    const [one, two] = addresses.slice(0, 2).map(mustParseIp)
    if (one === undefined || two === undefined) throw new Error('there are addresses')
    const first = await start(one, [], wanted)
    equal(await first.freshRevision(signal), wanted)
    const from = new MemoryStore(realClock)
    for (const name of ['a', 'b', 'c']) await put(from, `/registry/pods/${name}`)
    const keys = { start: '/registry/', end: '/registry0', isOmitted: () => false, isLeased: () => false }
    equal(await copyStore(from, first, keys, signal), 3)
    const second = await start(two, [one])
    deepEqual(await contents(second), await contents(first))
    await put(second, '/registry/pods/d')
    await put(first, '/registry/pods/a')
    deepEqual(await contents(second), await contents(first))
    equal(await second.freshRevision(signal), await first.freshRevision(signal))
    ok((await contents(second)).every(([, created]) => Number(created) > wanted))
    deepEqual(
      lines.filter((line) => line.includes('with writes')),
      [],
    )
  })

// When the revision of a new etcd is raised in its file, with a store in memory in place of etcd. The real one is in test/server/.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodeFiles } from '../../platform/node/files.ts'
import { copyingKey } from '../../store/copy-store.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { bumpRevision, prepareBump, writtenRevisionsMax } from './bump-revision.ts'

const { signal } = new AbortController()
const home = await mkdtemp(join(tmpdir(), 'coxswain-bump-'))
after(() => rm(home, { recursive: true, force: true }))
const wanted = writtenRevisionsMax + 100

async function prepared({ key = copyingKey, revision = wanted, names = ['1-2.snap', 'db'] } = {}) {
  const etcd = await mkdtemp(join(home, 'e-'))
  const snap = join(etcd, 'data/member/snap')
  await mkdir(snap, { recursive: true })
  for (const name of names) await writeFile(join(snap, name), '')
  const store = new MemoryStore(realClock)
  await store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new Uint8Array() }] }, signal)
  const lines: string[] = []
  const log = createLog({ clock: realClock, write: (line) => lines.push(line), format: 'text', level: 'info' })
  const newest = await prepareBump(store, etcd, revision, { files: nodeFiles, clock: realClock, log }, signal)
  return { etcd, snap, store, lines, log, newest }
}

test('two writes cause a snapshot of Raft; the last one is given the wanted revision', async () => {
  const { etcd, snap, store, lines, log, newest } = await prepared()
  equal(newest, store.revision)
  const bytes = (revision: number) =>
    Buffer.from(`${revision.toString(16).padStart(16, '0')}5f${'00'.repeat(8)}`, 'hex')
  await writeFile(join(snap, 'db'), bytes(store.revision))
  await bumpRevision(etcd, store.revision, wanted, log)
  deepEqual(await readFile(join(snap, 'db')), bytes(wanted))
  deepEqual(lines, [])
})

test('without its effect the revision is raised with writes', async () => {
  const { etcd, lines, log } = await prepared()
  await bumpRevision(etcd, 7, wanted, log)
  match(lines.join(''), /the revision of etcd is raised with writes/)
})

const refusals: readonly [name: string, given: Parameters<typeof prepared>[0], lines: RegExp][] = [
  ['there are objects', { key: '/registry/pods/a' }, /^$/],
  ['few writes are needed', { revision: writtenRevisionsMax }, /^$/],
  ['etcd saves no snapshot of Raft', { names: ['db'] }, /etcd saves no snapshot of Raft/],
]
for (const [name, given, expected] of refusals)
  test(`the file is left alone: ${name}`, async () => {
    const { newest, lines } = await prepared(given)
    equal(newest, undefined)
    match(lines.join(''), expected)
  })

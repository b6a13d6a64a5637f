// The bytes of a file in place of that of a member. Real ones are in test/server/.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { raiseNewestRevision } from './revision-file.ts'

const home = await mkdtemp(join(tmpdir(), 'coxswain-revision-'))
after(() => rm(home, { recursive: true, force: true }))
const path = join(home, 'db')

const revision = (main: number): string => `${main.toString(16).padStart(16, '0')}5f0000000000000000`
const content = (...revisions: number[]) => Buffer.from(`aabb${revisions.map(revision).join('cc')}dd`, 'hex')

test('the newest revision is replaced wherever it is, and no other one', async () => {
  await writeFile(path, content(2, 3, 4, 3, 4))
  equal(await raiseNewestRevision(path, 4, 50_000_000), true)
  deepEqual(await readFile(path), content(2, 3, 50_000_000, 3, 50_000_000))
})

test('a file without the revision, or a large one, is not changed', async () => {
  await writeFile(path, content(2, 3))
  equal(await raiseNewestRevision(path, 4, 5), false)
  deepEqual(await readFile(path), content(2, 3))
  await truncate(path, (64 << 20) + 1)
  equal(await raiseNewestRevision(path, 3, 5), false)
  await rejects(raiseNewestRevision(path, 3, 3), /revision 3 is not above 3/)
})

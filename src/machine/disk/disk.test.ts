import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { diskContract } from './contract.suite.ts'
import { PathEscapes } from './disk.ts'
import { NodeDisk } from './node-disk.ts'
import { visibleNames } from './projection.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { chmod, mkdtemp, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

diskContract('simulated', () => Promise.resolve({ disk: new SimulatedDisk(), folder: '/pods' }))

test('the host’s own disk: a link cannot lead out of a volume, and is not read through', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-disk-'))
  const disk = new NodeDisk()
  await disk.makeFolder(join(folder, 'volume'), 0o755)
  await writeFile(join(folder, 'secret'), 'secret')
  await symlink(folder, join(folder, 'volume', 'out'))
  await symlink(join(folder, 'secret'), join(folder, 'volume', 'message'))
  await rejects(disk.inside(join(folder, 'volume'), 'out/x'), PathEscapes)
  equal(await disk.readEnd(join(folder, 'volume', 'message'), 10), undefined)
  await rm(folder, { recursive: true })
})

test('the host’s own disk: a projection changes in one step and not at all when nothing differs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-disk-'))
  const disk = new NodeDisk()
  const files = new Map([['a', { content: new TextEncoder().encode('1'), mode: 0o400 }]])
  await disk.project(folder, files)
  const generation = await readlink(join(folder, '..data'))
  await disk.project(folder, files)
  equal(await readlink(join(folder, '..data')), generation)
  equal((await stat(join(folder, 'a'))).mode & 0o777, 0o400)
  await chmod(join(folder, '..data', 'a'), 0o600)
  await disk.project(folder, files)
  equal((await stat(join(folder, 'a'))).mode & 0o777, 0o400)
  await rm(folder, { recursive: true })
})

test('the names that a reader sees', () => {
  equal([...visibleNames(['a/b', 'a/c', 'd'])].join(), 'a,d')
})

import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { diskContract } from './disk-contract.suite.ts'
import { PathEscapes } from './disk.ts'
import { openBeneath } from './node-open-beneath.ts'
import { NodeDisk } from './node-disk.ts'
import { visibleNames } from './projection.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { chmod, mkdir, mkdtemp, readdir, readlink, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

diskContract('simulated', () => Promise.resolve({ disk: new SimulatedDisk(), folder: '/pods' }))

test('the host’s own disk: a link cannot lead out of a volume, and is not read through', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-disk-'))
  const volume = join(folder, 'volume')
  await mkdir(join(volume, 'in'), { recursive: true })
  await writeFile(join(folder, 'secret'), 'secret')
  await symlink(folder, join(volume, 'out'))
  await symlink('in', join(volume, 'alias'))
  await symlink(join(folder, 'secret'), join(volume, 'message'))
  for (const path of ['out', 'out/x', 'message', '../secret', 'in/../../secret'])
    await rejects(openBeneath(volume, path), PathEscapes, path)
  await using inner = await openBeneath(volume, 'alias/deep')
  equal(await readlink(`/proc/self/fd/${inner.fd}`), join(await realpath(volume), 'in', 'deep'))
  equal(await new NodeDisk().readTail(join(volume, 'message'), 10), undefined)
  await rm(folder, { recursive: true })
})

test('the host’s own disk: what an interrupted projection left is no hindrance and goes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-disk-'))
  await mkdir(join(folder, '..generation-old'))
  await symlink('..generation-old', join(folder, '..data_new'))
  await new NodeDisk().project(folder, new Map([['a', { content: new TextEncoder().encode('1'), mode: 0o444 }]]))
  const names = await readdir(folder)
  equal(names.filter((name) => name.startsWith('..generation-')).length, 1)
  equal(names.includes('..data_new'), false)
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

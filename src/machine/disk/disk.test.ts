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

const { signal } = new AbortController()

diskContract('simulated', () => Promise.resolve({ disk: new SimulatedDisk(), directory: '/pods' }))

test('the host’s disk: a link cannot lead out of a volume, and is not read through', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-disk-'))
  const volume = join(directory, 'volume')
  await mkdir(join(volume, 'in'), { recursive: true })
  await writeFile(join(directory, 'secret'), 'secret')
  await symlink(directory, join(volume, 'out'))
  await symlink('in', join(volume, 'alias'))
  await symlink(join(directory, 'secret'), join(volume, 'message'))
  for (const path of ['out', 'out/x', 'message', '../secret', 'in/../../secret'])
    await rejects(openBeneath(volume, path), PathEscapes, path)
  await using inner = await openBeneath(volume, 'alias/deep')
  equal(await readlink(`/proc/self/fd/${inner.fd}`), join(await realpath(volume), 'in', 'deep'))
  await chmod(volume, 0o3777)
  await using created = await openBeneath(volume, 'new/inner')
  equal((await created.stat()).mode & 0o7777, 0o3777, 'as the volume')
  equal((await inner.stat()).mode & 0o2000, 0, 'a directory that exists is not changed')
  equal(await new NodeDisk().readTail(join(volume, 'message'), 10), undefined)
  await rm(directory, { recursive: true })
})

test('the host’s disk: leftovers of an interrupted projection are removed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-disk-'))
  await mkdir(join(directory, '..generation-old'))
  await symlink('..generation-old', join(directory, '..data_new'))
  await new NodeDisk().project(
    directory,
    new Map([['a', { content: new TextEncoder().encode('1'), mode: 0o444 }]]),
    undefined,
    signal,
  )
  const names = await readdir(directory)
  equal(names.filter((name) => name.startsWith('..generation-')).length, 1)
  equal(names.includes('..data_new'), false)
  await rm(directory, { recursive: true })
})

test('the host’s disk: a projection is replaced atomically, and not at all when nothing has changed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-disk-'))
  const disk = new NodeDisk()
  const files = new Map([['a', { content: new TextEncoder().encode('1'), mode: 0o400 }]])
  await disk.project(directory, files, undefined, signal)
  const generation = await readlink(join(directory, '..data'))
  await disk.project(directory, files, undefined, signal)
  equal(await readlink(join(directory, '..data')), generation)
  equal((await stat(join(directory, 'a'))).mode & 0o777, 0o400)
  await chmod(join(directory, '..data', 'a'), 0o600)
  await disk.project(directory, files, undefined, signal)
  equal((await stat(join(directory, 'a'))).mode & 0o777, 0o400)
  await rm(directory, { recursive: true })
})

test('the visible names of a projection', () => {
  equal([...visibleNames(['a/b', 'a/c', 'd'])].join(), 'a,d')
})

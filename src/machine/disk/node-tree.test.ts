import { deepEqual, equal, rejects } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, link, mkdir, mkdtemp, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { TreeTooDeep } from './disk.ts'
import { NodeDisk } from './node-disk.ts'
import { treeDepthMax, walkTree } from './node-tree.ts'

const { signal } = new AbortController()
const asRoot = process.getuid?.() === 0
const made = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-tree-'))
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) }
}

test('all entries are visited, and links are not followed', async () => {
  await using temporary = await made()
  const { directory } = temporary
  await mkdir(join(directory, 'host'))
  await writeFile(join(directory, 'host', 'secret'), '')
  await mkdir(join(directory, 'volume', 'in'), { recursive: true })
  await writeFile(join(directory, 'volume', 'in', 'f'), '')
  await symlink(join(directory, 'host'), join(directory, 'volume', 'out'))
  const seen: string[] = []
  await walkTree(
    join(directory, 'volume'),
    async ({ status, path }) => {
      seen.push(status.isSymbolicLink() ? 'a link' : (await readlink(path)).slice(directory.length))
    },
    signal,
  )
  deepEqual(seen.toSorted(), ['/volume', '/volume/in', '/volume/in/f', 'a link'])
})

test('a directory that is replaced by a link during the walk is not followed', async () => {
  await using temporary = await made()
  const { directory } = temporary
  const host = join(directory, 'host')
  const volume = join(directory, 'volume')
  await mkdir(host)
  await writeFile(join(host, 'secret'), '')
  await chmod(join(host, 'secret'), 0o600)
  await mkdir(join(volume, 'a'), { recursive: true })
  await writeFile(join(volume, 'a', 'own'), '')
  const seen: string[] = []
  await walkTree(
    volume,
    async ({ status, path }) => {
      if (status.isSymbolicLink()) return
      const name = await readlink(path)
      if (name === join(volume, 'a')) {
        await rename(name, join(volume, 'b'))
        await symlink(host, name)
      }
      // A walk by path names would have changed the host's file.
      await chmod(path, 0o660)
      seen.push((await readlink(path)).slice(directory.length))
    },
    signal,
  )
  equal(seen.includes('/volume/b/own'), true)
  equal(
    seen.some((name) => name.startsWith('/host')),
    false,
  )
  equal((await stat(join(host, 'secret'))).mode & 0o777, 0o600)
})

/** With relative names, as a container can create them. */
const nest = (directory: string, levels: number) =>
  promisify(execFile)(
    'sh',
    [
      '-c',
      `i=0; while [ $i -lt ${levels} ]; do mkdir ${'d'.repeat(20)}; cd -P ${'d'.repeat(20)}; i=$((i+1)); done; echo x > f`,
    ],
    { cwd: directory },
  )

test('directories nested deeper than PATH_MAX are measured and removed, and rejected by changeGroup', async () => {
  await using temporary = await made()
  const volume = join(temporary.directory, 'volume')
  await mkdir(volume)
  await nest(volume, treeDepthMax + 50)
  const disk = new NodeDisk()
  await rejects(disk.changeGroup(volume, process.getgid?.() ?? 0, signal), TreeTooDeep)
  equal((await disk.usedBytes(volume)) > 0, true)
  await disk.remove(volume)
  equal(await disk.kindOf(volume), undefined)
})

test('a walk stops when its signal is aborted', async () => {
  await using temporary = await made()
  for (let count = 0; count < 10; count++) await writeFile(join(temporary.directory, String(count)), '')
  const controller = new AbortController()
  let visits = 0
  const visit = () => {
    if (++visits === 3) controller.abort()
  }
  await rejects(walkTree(temporary.directory, visit, controller.signal), { name: 'AbortError' })
  equal(visits, 3)
})

if (asRoot)
  test('changeGroup changes a whole tree, but not the targets of its links', async () => {
    await using temporary = await made()
    const { directory } = temporary
    const host = join(directory, 'host')
    const volume = join(directory, 'volume')
    await mkdir(join(volume, 'in'), { recursive: true })
    await writeFile(host, '', { mode: 0o600 })
    await writeFile(join(volume, 'in', 'f'), '', { mode: 0o600 })
    await link(join(volume, 'in', 'f'), join(volume, 'hard'))
    await symlink(host, join(volume, 'soft'))
    await new NodeDisk().changeGroup(volume, 2000, signal)
    const shown = async (path: string) => {
      const { gid, mode } = await stat(path)
      return [gid, (mode & 0o7777).toString(8)]
    }
    deepEqual(await shown(join(volume, 'in')), [2000, '2775'])
    deepEqual(await shown(join(volume, 'in', 'f')), [2000, '660'])
    deepEqual(await shown(host), [0, '600'])
  })

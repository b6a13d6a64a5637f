// The contract suite of disk drivers, run below a directory that the caller provides.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { PathEscapes, type Disk } from './disk.ts'

export interface DiskUnderTest {
  readonly disk: Disk
  readonly folder: string
}

const bytes = (text: string) => new TextEncoder().encode(text)
const { signal } = new AbortController()
const file = (text: string, mode = 0o644) => ({ content: bytes(text), mode })

export function diskContract(driver: string, open: () => Promise<DiskUnderTest>): void {
  const text = async (disk: Disk, path: string) => {
    const content = await disk.readTail(path, 1_000)
    return content === undefined ? undefined : new TextDecoder().decode(content)
  }

  test(`${driver}: a file is written whole, its end can be read, and it goes`, async () => {
    const { disk, folder } = await open()
    await disk.makeDirectory(`${folder}/a/b`, 0o755)
    await disk.write(`${folder}/a/b/f`, file('hello'))
    equal(await text(disk, `${folder}/a/b/f`), 'hello')
    equal(new TextDecoder().decode(await disk.readTail(`${folder}/a/b/f`, 2)), 'lo')
    deepEqual([await disk.kindOf(`${folder}/a/b/f`), await disk.kindOf(`${folder}/a/b`)], ['file', 'folder'])
    deepEqual(await disk.list(`${folder}/a`), ['b'])
    await disk.remove(`${folder}/a`)
    await disk.remove(`${folder}/a`)
    equal(await disk.kindOf(`${folder}/a/b/f`), undefined)
    deepEqual(await disk.list(`${folder}/a`), [])
  })

  test(`${driver}: projected files are replaced by others, and what is no longer wanted goes`, async () => {
    const { disk, folder } = await open()
    const place = `${folder}/projected`
    await disk.makeDirectory(place, 0o755)
    await disk.project(
      place,
      new Map([
        ['one', file('1')],
        ['deep/two', file('2', 0o400)],
      ]),
    )
    deepEqual([await text(disk, `${place}/deep/two`)], ['2'])
    await disk.project(
      place,
      new Map([
        ['one', file('1b')],
        ['three', file('3')],
      ]),
    )
    equal(await disk.kindOf(`${place}/deep`), undefined)
    deepEqual((await disk.list(place)).filter((name) => !name.startsWith('..')).toSorted(), ['one', 'three'])
    await disk.remove(place)
  })

  test(`${driver}: what lies inside a folder is mounted elsewhere, made where it is missing, and never from outside`, async () => {
    const { disk, folder } = await open()
    const place = `${folder}/subpath`
    await disk.makeDirectory(`${folder}/volume`, 0o755)
    await disk.mountSubPath(`${folder}/volume`, 'a/b', place)
    await disk.mountSubPath(`${folder}/volume`, 'a/b', place)
    equal(await disk.kindOf(`${folder}/volume/a/b`), 'folder')
    deepEqual(await disk.mountsBelow(folder), [place])
    await rejects(disk.mountSubPath(`${folder}/volume`, '../other', `${folder}/other`), PathEscapes)
    await disk.unmount(place)
  })

  test(`${driver}: a group is given what it then has`, async () => {
    const { disk, folder } = await open()
    await disk.makeDirectory(`${folder}/shared`, 0o755)
    await disk.write(`${folder}/shared/f`, file('x', 0o600))
    equal(await disk.hasGroup(`${folder}/shared`, 2000), false)
    await disk.changeGroup(`${folder}/shared`, 2000, signal)
    deepEqual(
      [await disk.hasGroup(`${folder}/shared`, 2000), await disk.hasGroup(`${folder}/shared`, 2001)],
      [true, false],
    )
  })

  test(`${driver}: nothing is removed across a mount`, async () => {
    const { disk, folder } = await open()
    const place = `${folder}/memory`
    await disk.makeDirectory(place, 0o755)
    await disk.mountTmpfs(place, 1_000_000)
    await disk.mountTmpfs(place, 1_000_000)
    deepEqual(await disk.mountsBelow(folder), [place])
    await rejects(disk.remove(folder), /is mounted at/)
    await disk.unmount(place)
    await disk.unmount(place)
    await disk.mountHugetlbfs(place, 2 << 20)
    deepEqual(await disk.mountsBelow(folder), [place])
    await disk.unmount(place)
    deepEqual(await disk.mountsBelow(folder), [])
  })
}

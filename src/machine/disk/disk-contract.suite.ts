// The contract suite of disk drivers, run below a directory that the caller provides.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { PathEscapes, type Disk, type FileContent } from './disk.ts'

export interface DiskUnderTest {
  readonly disk: Disk
  readonly directory: string
}

const bytes = (text: string) => new TextEncoder().encode(text)
const { signal } = new AbortController()
const file = (text: string, mode = 0o644) => ({ content: bytes(text), mode })

export function diskContract(driver: string, open: () => Promise<DiskUnderTest>): void {
  const text = async (disk: Disk, path: string) => {
    const content = await disk.readTail(path, 1_000)
    return content === undefined ? undefined : new TextDecoder().decode(content)
  }

  test(`${driver}: a file is written, its tail is read, and it is removed`, async () => {
    const { disk, directory } = await open()
    await disk.makeDirectory(`${directory}/a/b`, 0o755)
    await disk.write(`${directory}/a/b/f`, file('hello'))
    equal(await text(disk, `${directory}/a/b/f`), 'hello')
    equal(new TextDecoder().decode(await disk.readTail(`${directory}/a/b/f`, 2)), 'lo')
    deepEqual([await disk.kindOf(`${directory}/a/b/f`), await disk.kindOf(`${directory}/a/b`)], ['file', 'directory'])
    deepEqual(await disk.list(`${directory}/a`), ['b'])
    await disk.remove(`${directory}/a`)
    await disk.remove(`${directory}/a`)
    equal(await disk.kindOf(`${directory}/a/b/f`), undefined)
    deepEqual(await disk.list(`${directory}/a`), [])
  })

  test(`${driver}: projected files are replaced, and files that are no longer listed are removed`, async () => {
    const { disk, directory } = await open()
    const target = `${directory}/projected`
    await disk.makeDirectory(target, 0o755)
    await disk.project(
      target,
      new Map([
        ['one', file('1')],
        ['deep/two', file('2', 0o400)],
      ]),
      undefined,
      signal,
    )
    deepEqual([await text(disk, `${target}/deep/two`)], ['2'])
    await disk.project(
      target,
      new Map([
        ['one', file('1b')],
        ['three', file('3')],
      ]),
      undefined,
      signal,
    )
    equal(await disk.kindOf(`${target}/deep`), undefined)
    deepEqual((await disk.list(target)).filter((name) => !name.startsWith('..')).toSorted(), ['one', 'three'])
    await disk.remove(target)
  })

  test(`${driver}: the content of a projected file is loaded, and a failure to load it is reported`, async () => {
    const { disk, directory } = await open()
    const target = `${directory}/loaded`
    await disk.makeDirectory(target, 0o755)
    const projected = async (content: FileContent) => {
      await disk.project(target, new Map([['token', { content, mode: 0o600 }]]), undefined, signal)
      // The host's disk shows links, which readTail does not follow.
      const [generation] = (await disk.list(target)).filter((name) => name.startsWith('..generation-'))
      return text(disk, generation === undefined ? `${target}/token` : `${target}/${generation}/token`)
    }
    equal(await projected(() => Promise.resolve(bytes('first'))), 'first')
    equal(await projected(() => Promise.resolve(bytes('second'))), 'second')
    await rejects(
      projected(() => Promise.reject(new Error('refused'))),
      /refused/,
    )
    await disk.remove(target)
  })

  test(`${driver}: a subPath is mounted, created if it is missing, and never outside of the directory`, async () => {
    const { disk, directory } = await open()
    const target = `${directory}/subpath`
    await disk.makeDirectory(`${directory}/volume`, 0o755)
    await disk.mountSubPath(`${directory}/volume`, 'a/b', target)
    await disk.mountSubPath(`${directory}/volume`, 'a/b', target)
    equal(await disk.kindOf(`${directory}/volume/a/b`), 'directory')
    deepEqual(await disk.mountsBelow(directory), [target])
    await rejects(disk.mountSubPath(`${directory}/volume`, '../other', `${directory}/other`), PathEscapes)
    await disk.unmount(target)
  })

  test(`${driver}: changeGroup sets the group that hasGroup checks`, async () => {
    const { disk, directory } = await open()
    await disk.makeDirectory(`${directory}/shared`, 0o755)
    await disk.write(`${directory}/shared/f`, file('x', 0o600))
    equal(await disk.hasGroup(`${directory}/shared`, 2000), false)
    await disk.changeGroup(`${directory}/shared`, 2000, signal)
    deepEqual(
      [await disk.hasGroup(`${directory}/shared`, 2000), await disk.hasGroup(`${directory}/shared`, 2001)],
      [true, false],
    )
  })

  test(`${driver}: a network file system is not mounted without the program for its type`, async () => {
    const { disk, directory } = await open()
    const target = `${directory}/network`
    await disk.makeDirectory(target, 0o755)
    await rejects(disk.mountNetwork('nosuchfs', 'server:/', target, [], signal), {
      message: 'mount.nosuchfs is not installed on this node',
    })
    deepEqual(await disk.mountsBelow(target), [])
    await disk.remove(target)
  })

  test(`${driver}: nothing is removed across a mount`, async () => {
    const { disk, directory } = await open()
    const target = `${directory}/memory`
    await disk.makeDirectory(target, 0o755)
    await disk.mountTmpfs(target, 1_000_000)
    await disk.mountTmpfs(target, 1_000_000)
    deepEqual(await disk.mountsBelow(directory), [target])
    await rejects(disk.remove(directory), /is mounted at/)
    await disk.unmount(target)
    await disk.unmount(target)
    await disk.mountHugetlbfs(target, 2 << 20)
    deepEqual(await disk.mountsBelow(directory), [target])
    await disk.unmount(target)
    deepEqual(await disk.mountsBelow(directory), [])
  })
}

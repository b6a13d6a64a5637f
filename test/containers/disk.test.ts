// The disk contract on the host's files and mounts, and block devices.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, statfs, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { diskContract } from '../../src/machine/disk/disk-contract.suite.ts'
import { NodeDisk } from '../../src/machine/disk/node-disk.ts'
import { inNamespaces } from './namespaces.ts'

/** The kernel grows a mounted ext4 only for processes with this capability, which containers often lack. */
const resourceCapability = 1n << 24n

async function mayGrow(): Promise<boolean> {
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile('/proc/self/status', 'utf8')) ?? []
  return (BigInt(`0x${effective}`) & resourceCapability) !== 0n
}

inNamespaces(import.meta.url, () => {
  diskContract('host', async () => ({
    disk: new NodeDisk(),
    directory: await mkdtemp(join(tmpdir(), 'coxswain-disk-')),
  }))

  test('a block device is formatted once, and not when it is read-only; its file system grows with it', async (t) => {
    const { signal } = t
    const directory = await mkdtemp(join(tmpdir(), 'coxswain-device-'))
    const image = join(directory, 'image')
    await writeFile(image, '')
    await truncate(image, 16 << 20)
    const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim()
    t.after(() => execFileSync('losetup', ['--detach', device]))
    const disk = new NodeDisk()
    const paths = { first: join(directory, 'first'), second: join(directory, 'second') }
    for (const path of Object.values(paths)) await mkdir(path)
    await rejects(disk.mountDevice(device, 'ext4', paths.first, ['ro'], signal), /mount/)
    await rejects(disk.mountDevice(device, 'nosuchfs', paths.first, [], signal), {
      message: 'mkfs.nosuchfs is not installed on this node',
    })
    await rejects(disk.mountDevice(device, '/../../bin/true', paths.first, [], signal), /is not a type of file system/)
    await Promise.all(Object.values(paths).map((path) => disk.mountDevice(device, 'ext4', path, [], signal)))
    await disk.mountDevice(device, 'ext4', paths.first, [], signal)
    deepEqual((await disk.mountsBelow(directory)).toSorted(), Object.values(paths))
    await writeFile(join(paths.first, 'file'), 'kept')
    for (const path of Object.values(paths)) await disk.unmount(path)
    await disk.mountDevice(device, 'ext4', paths.second, [], signal)
    equal(await readFile(join(paths.second, 'file'), 'utf8'), 'kept')
    await rejects(disk.growFileSystem(join(directory, 'nothing'), paths.second, signal), /blkid/)
    const blocksBefore = (await statfs(paths.second)).blocks
    await truncate(image, 48 << 20)
    execFileSync('losetup', ['--set-capacity', device])
    equal((await statfs(paths.second)).blocks, blocksBefore)
    const grow = () => disk.growFileSystem(device, paths.second, signal)
    if (await mayGrow()) {
      await grow()
      const blocksAfter = (await statfs(paths.second)).blocks
      ok(blocksAfter > 2 * blocksBefore, `${blocksAfter} blocks after ${blocksBefore}`)
      await grow()
    } else await rejects(grow(), /resize2fs: Permission denied to resize filesystem/)
    equal(await readFile(join(paths.second, 'file'), 'utf8'), 'kept')
    await disk.unmount(paths.second)
  })
})

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { snapshotterIn } from './snapshotter.ts'

const disk = '/dev/sda1 / ext4 rw 0 0'
const container = 'overlay / overlay rw,lowerdir=/l 0 0'
const volume = (path: string) => `/dev/sda1 ${path} ext4 rw 0 0`

const rows: [where: string, mounts: readonly string[], directory: string, snapshotter: string][] = [
  ['a machine', [disk, 'proc /proc proc rw 0 0'], '/data/node', 'overlayfs'],
  ['the file system of a container', [container], '/data/node', 'native'],
  ['a volume of a container', [container, volume('/data')], '/data/node', 'overlayfs'],
  ['a volume itself', [container, volume('/data')], '/data', 'overlayfs'],
  ['a folder beside a volume', [container, volume('/data')], '/data2/node', 'native'],
  ['an overlay on a machine', [disk, 'overlay /data overlay rw 0 0'], '/data/node', 'native'],
  ['a mount above an earlier one', [container, volume('/data'), 'overlay /data overlay rw 0 0'], '/data', 'native'],
  ['a path with a space', [container, volume('/my\\040data')], '/my data/node', 'overlayfs'],
  ['an unknown place', [''], '/data', 'overlayfs'],
]
for (const [where, mounts, directory, snapshotter] of rows)
  test(`the snapshotter in ${where} is ${snapshotter}`, () =>
    equal(snapshotterIn(directory, mounts.join('\n')), snapshotter))

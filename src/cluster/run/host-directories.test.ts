// Which directories of the machine are removed.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { directoryRemover } from './host-directories.ts'

const rows: readonly (readonly [path: string, removed: string | undefined])[] = [
  ['/tmp/volume', '/tmp/volume'],
  ['/tmp/volume//', '/tmp/volume'],
  ['/tmp/cluster-2', '/tmp/cluster-2'],
  ['/tmp/run/cluster', undefined],
  ['/tmp/run', undefined],
  ['/tmp/run/cluster/node', undefined],
]

for (const [path, removed] of rows)
  test(`${path} is ${removed === undefined ? 'kept' : 'removed'}`, async () => {
    const calls: string[] = []
    const remove = directoryRemover({ remove: async (each) => void calls.push(each) }, ['/tmp/run/cluster'])
    if (removed === undefined) await rejects(remove(path), /because Coxswain uses \/tmp\/run\/cluster/)
    else await remove(path)
    deepEqual(calls, removed === undefined ? [] : [removed])
  })

import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { capabilityOf, publishedMode } from './access-modes.ts'

const options = { isBlock: false, fsType: 'ext4', mountFlags: ['noatime'], hasMultiWriter: false }

const modes: [accessMode: string, hasMultiWriter: boolean, mode: string][] = [
  ['ReadWriteMany', false, 'MULTI_NODE_MULTI_WRITER'],
  ['ReadOnlyMany', false, 'MULTI_NODE_READER_ONLY'],
  ['ReadWriteOncePod', false, 'SINGLE_NODE_WRITER'],
  ['ReadWriteOncePod', true, 'SINGLE_NODE_SINGLE_WRITER'],
  ['ReadWriteOnce', false, 'SINGLE_NODE_WRITER'],
  ['ReadWriteOnce', true, 'SINGLE_NODE_MULTI_WRITER'],
]
for (const [accessMode, hasMultiWriter, mode] of modes)
  test(`${accessMode} of a driver ${hasMultiWriter ? 'that counts' : 'that does not count'} writers is ${mode}`, () => {
    deepEqual(capabilityOf(accessMode, { ...options, hasMultiWriter }), {
      mount: { fsType: 'ext4', mountFlags: ['noatime'] },
      accessMode: { mode },
    })
    deepEqual(capabilityOf(accessMode, { ...options, hasMultiWriter, isBlock: true }), {
      block: {},
      accessMode: { mode },
    })
  })

test('an unknown access mode is an error that names it', () =>
  throws(() => capabilityOf('ReadWriteAlways', options), /^Error: unsupported access mode ReadWriteAlways$/))

const published: [accessModes: string[], mode: string][] = [
  [['ReadOnlyMany', 'ReadWriteOnce'], 'ReadWriteOnce'],
  [['ReadWriteOnce', 'ReadWriteMany'], 'ReadWriteMany'],
  [['ReadOnlyMany'], 'ReadOnlyMany'],
  [[], 'ReadWriteOnce'],
]
for (const [accessModes, mode] of published)
  test(`a volume with the access modes [${accessModes.join(', ')}] is attached as ${mode}`, () =>
    equal(publishedMode(accessModes), mode))

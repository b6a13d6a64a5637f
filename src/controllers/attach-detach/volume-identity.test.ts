import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { made } from '../runtime/plan.harness.ts'
import { attachmentNameOf, identityOf, volumeNameOf } from './volume-identity.ts'

const names: [name: string, identity: object | undefined][] = [
  ['kubernetes.io/csi/d.example.com^h', { driver: 'd.example.com', handle: 'h' }],
  ['kubernetes.io/csi/d^a^b', { driver: 'd', handle: 'a^b' }],
  ['kubernetes.io/csi/d', undefined],
  ['kubernetes.io/nfs/d^h', undefined],
]
for (const [name, identity] of names) test(`the identity of ${name}`, () => deepEqual(identityOf(name), identity))

test('a CSI volume has a unique name, other volumes have none', () => {
  const csi = made(persistentVolume, 'v', { spec: { csi: { driver: 'd', volumeHandle: 'h' } } })
  equal(volumeNameOf(csi), 'kubernetes.io/csi/d^h')
  equal(volumeNameOf(made(persistentVolume, 'v', { spec: { hostPath: { path: '/' } } })), undefined)
})

test('a VolumeAttachment is named by a digest of handle, driver and node', () =>
  equal(attachmentNameOf({ driver: 'd', handle: 'h' }, 'n', nodeCrypto), `csi-${nodeCrypto.sha256('hdn').toHex()}`))

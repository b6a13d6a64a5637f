// The contract of a CSI driver about volumes: each call of CSI v1, also repeated as after a lost answer.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { controllerService, nodeService } from '../methods.ts'
import {
  block,
  MiB,
  mount,
  nodeId,
  release,
  shared,
  signal,
  use,
  volumeOn,
  withCode,
  type Check,
} from './driver-under-test.harness.ts'

export function volumeContract(check: Check): void {
  for (const [what, capability, file] of [
    ['a filesystem', mount, 'file'],
    ['a block device', block, ''],
  ] as const)
    check(`${what} keeps its data from one pod to the next, and every call can be repeated`, async (under) => {
      const volume = volumeOn(under, 'pvc-1', capability)
      const twice = async (call: () => Promise<unknown>) => deepEqual(await call(), await call())
      const before = [volume.create, volume.attach, volume.stage, () => volume.publish()]
      const after = [volume.unpublish, volume.unstage, volume.detach]
      for (const call of before) await twice(call)
      await under.write(volume.targetPath, file, 'kept')
      for (const call of after) await twice(call)
      for (const call of before) await twice(call)
      equal(await under.read(volume.targetPath, file), 'kept')
      for (const call of [...after, volume.delete]) await twice(call)
      equal((await under.driver.call(controllerService.listVolumes, {}, signal)).entries.length, 0)
    })

  check('a volume with a filesystem of its own size keeps its data', async (under) => {
    const volume = volumeOn(under, 'pvc-1')
    await volume.create({ parameters: { backing: 'file' } })
    await use(volume)
    await under.write(volume.targetPath, 'file', 'kept')
    await release(volume)
    await under.driver.call(
      controllerService.controllerExpandVolume,
      { volumeId: 'pvc-1', capacityRange: { requiredBytes: 16 * MiB } },
      signal,
    )
    await use(volume)
    equal(await under.read(volume.targetPath, 'file'), 'kept')
    const { usage } = await under.driver.call(
      nodeService.nodeGetVolumeStats,
      { volumeId: 'pvc-1', volumePath: volume.targetPath },
      signal,
    )
    ok((usage[0]?.total ?? 0) > 10 * MiB, `the filesystem has ${usage[0]?.total} bytes`)
    await release(volume)
    await volume.delete()
  })

  check('a volume is created once for its name, and a different request for the name is rejected', async (under) => {
    const volume = volumeOn(under, 'pvc-1')
    const { volume: created } = await volume.create({ parameters: { a: 'b' } })
    deepEqual([created?.volumeId, created?.capacityBytes], ['pvc-1', 4 * MiB])
    const different = [
      { parameters: { a: 'c' } },
      { parameters: { a: 'b' }, volumeCapabilities: [block] },
      { parameters: { a: 'b' }, capacityRange: { requiredBytes: 8 * MiB } },
      { parameters: { a: 'b' }, volumeContentSource: { volume: { volumeId: 'x' } } },
    ]
    for (const more of different) await rejects(volume.create(more), withCode('ALREADY_EXISTS'))
  })

  check('invalid requests are rejected', async (under) => {
    const { driver } = under
    const volume = volumeOn(under, 'pvc-1')
    await rejects(volume.create({ name: '' }), withCode('INVALID_ARGUMENT'))
    await rejects(volume.create({ name: 'x'.repeat(129) }), withCode('INVALID_ARGUMENT'))
    await rejects(volume.create({ volumeCapabilities: [] }), withCode('INVALID_ARGUMENT'))
    await rejects(volume.create({ volumeCapabilities: [{}] }), withCode('INVALID_ARGUMENT'))
    await rejects(volume.create({ capacityRange: { requiredBytes: -1 } }), withCode('INVALID_ARGUMENT'))
    await rejects(volume.create({ capacityRange: { limitBytes: 1 } }), withCode('OUT_OF_RANGE'))
    await rejects(volume.create({ capacityRange: { requiredBytes: 2 ** 50 } }), withCode('OUT_OF_RANGE'))
    await rejects(volume.create({ volumeContentSource: { volume: { volumeId: 'x' } } }), withCode('NOT_FOUND'))
    await rejects(volume.attach(), withCode('NOT_FOUND'))
    await volume.create()
    await rejects(volume.stage(), withCode('FAILED_PRECONDITION'))
    await rejects(
      driver.call(
        controllerService.controllerPublishVolume,
        { volumeId: 'pvc-1', nodeId: 'x', volumeCapability: mount },
        signal,
      ),
      withCode('NOT_FOUND'),
    )
    await rejects(
      driver.call(controllerService.controllerPublishVolume, { volumeId: 'pvc-1', nodeId }, signal),
      withCode('INVALID_ARGUMENT'),
    )
    await volume.attach()
    await rejects(volume.publish(), withCode('FAILED_PRECONDITION'))
    await rejects(volume.delete(), withCode('FAILED_PRECONDITION'))
    await volume.stage()
    await rejects(volume.publish({ volumeCapability: block }), withCode('INVALID_ARGUMENT'))
    await rejects(volume.publish({ volumeCapability: {} }), withCode('INVALID_ARGUMENT'))
    await volume.publish()
    await rejects(volume.publish({ readonly: true }), withCode('ALREADY_EXISTS'))
    await rejects(
      driver.call(nodeService.nodeGetVolumeStats, { volumeId: 'pvc-1', volumePath: '/nowhere' }, signal),
      withCode('NOT_FOUND'),
    )
    await rejects(
      driver.call(
        controllerService.controllerPublishVolume,
        { volumeId: 'pvc-1', nodeId, volumeCapability: mount, readonly: true },
        signal,
      ),
      withCode('ALREADY_EXISTS'),
    )
    await rejects(
      driver.call(controllerService.controllerExpandVolume, { volumeId: 'pvc-1' }, signal),
      withCode('INVALID_ARGUMENT'),
    )
    await release(volume)
  })

  check('a volume that is published for reading cannot be written', async (under) => {
    const volume = volumeOn(under, 'pvc-1')
    await volume.create()
    await volume.attach()
    await volume.stage()
    await under.write(volume.stagingTargetPath, 'file', 'before')
    await volume.publish({ readonly: true })
    await rejects(under.write(volume.targetPath, 'file', 'after'))
    equal(await under.read(volume.targetPath, 'file'), 'before')
    await release(volume)
  })

  check('an inline volume exists as long as it is published', async (under) => {
    const volume = volumeOn(under, 'csi-inline')
    const volumeContext = { 'csi.storage.k8s.io/ephemeral': 'true' }
    for (const _ of [1, 2]) await volume.publish({ volumeContext, stagingTargetPath: '' })
    await under.write(volume.targetPath, 'file', 'text')
    equal(await under.read(volume.targetPath, 'file'), 'text')
    for (const _ of [1, 2]) await volume.unpublish()
    equal((await under.driver.call(controllerService.listVolumes, {}, signal)).entries.length, 0)
  })

  check(
    'a node takes as many volumes as its limit',
    async (under) => {
      const one = volumeOn(under, 'one')
      const two = volumeOn(under, 'two')
      for (const volume of [one, two]) await volume.create()
      await one.attach()
      await rejects(two.attach(), withCode('RESOURCE_EXHAUSTED'))
      await one.detach()
      await two.attach()
      const { entries } = await under.driver.call(controllerService.listVolumes, {}, signal)
      deepEqual(
        entries.map(({ status }) => status?.publishedNodeIds),
        [[], [nodeId]],
      )
    },
    { volumesMax: 1 },
  )

  check(
    'volumes are placed where the requirement allows them, as long as there is space',
    async (under) => {
      const { driver } = under
      const requirement = (...zones: string[]) => ({
        accessibilityRequirements: { preferred: zones.map((zone) => ({ segments: { zone } })) },
      })
      const { volume } = await volumeOn(under, 'one').create(requirement('z', 'a'))
      deepEqual(
        volume?.accessibleTopology.map(({ segments }) => ({ ...segments })),
        [{ zone: 'a' }],
      )
      await rejects(volumeOn(under, 'two').create(requirement('z')), withCode('RESOURCE_EXHAUSTED'))
      const capacity = (zone: string) =>
        driver.call(controllerService.getCapacity, { accessibleTopology: { segments: { zone } } }, signal)
      const { availableCapacity, maximumVolumeSize } = await capacity('a')
      deepEqual([availableCapacity, maximumVolumeSize?.value], [6 * MiB, 6 * MiB])
      await rejects(
        volumeOn(under, 'two').create({ capacityRange: { requiredBytes: 7 * MiB } }),
        withCode('RESOURCE_EXHAUSTED'),
      )
      await rejects(
        driver.call(
          controllerService.controllerExpandVolume,
          { volumeId: 'one', capacityRange: { requiredBytes: 11 * MiB } },
          signal,
        ),
        withCode('OUT_OF_RANGE'),
      )
    },
    { topology: { zone: 'a' }, config: { capacityBytes: 10 * MiB } },
  )

  check('a volume grows, is modified and is described', async (under) => {
    const { driver } = under
    const volume = volumeOn(under, 'pvc-1')
    await volume.create()
    await use(volume)
    const expand = () =>
      driver.call(
        controllerService.controllerExpandVolume,
        { volumeId: 'pvc-1', capacityRange: { requiredBytes: 8 * MiB } },
        signal,
      )
    for (const _ of [1, 2]) {
      const { capacityBytes, nodeExpansionRequired } = await expand()
      deepEqual([capacityBytes, nodeExpansionRequired], [8 * MiB, true])
    }
    const node = await driver.call(
      nodeService.nodeExpandVolume,
      { volumeId: 'pvc-1', volumePath: volume.targetPath },
      signal,
    )
    equal(node.capacityBytes, 8 * MiB)
    await driver.call(
      controllerService.controllerModifyVolume,
      { volumeId: 'pvc-1', mutableParameters: { iops: '5' } },
      signal,
    )
    const found = await driver.call(controllerService.controllerGetVolume, { volumeId: 'pvc-1' }, signal)
    deepEqual([found.volume?.capacityBytes, found.status?.publishedNodeIds], [8 * MiB, [nodeId]])
    const validate = (capability: typeof mount | typeof block) =>
      driver.call(
        controllerService.validateVolumeCapabilities,
        { volumeId: 'pvc-1', volumeCapabilities: [capability] },
        signal,
      )
    equal((await validate(mount)).confirmed?.volumeCapabilities.length, 1)
    equal((await validate(block)).confirmed, undefined)
    const { usage } = await driver.call(
      nodeService.nodeGetVolumeStats,
      { volumeId: 'pvc-1', volumePath: volume.targetPath },
      signal,
    )
    deepEqual([usage.map(({ unit }) => unit), usage[0]?.total], [['BYTES', 'INODES'], 8 * MiB])
    await release(volume)
  })

  check('a list is read in pages', async (under) => {
    for (const name of ['a', 'b', 'c']) await volumeOn(under, name).create()
    const page = (startingToken: string) =>
      under.driver.call(controllerService.listVolumes, { maxEntries: 2, startingToken }, signal)
    const first = await page('')
    const second = await page(first.nextToken)
    deepEqual([first.entries.length, second.entries.length, second.nextToken], [2, 1, ''])
    await rejects(page('x'), withCode('ABORTED'))
  })

  check('a shared volume is attached with its mode', async (under) => {
    await volumeOn(under, 'pvc-1').create({ volumeCapabilities: [shared] })
    const attach = () =>
      under.driver.call(
        controllerService.controllerPublishVolume,
        { volumeId: 'pvc-1', nodeId, volumeCapability: shared },
        signal,
      )
    for (const _ of [1, 2]) equal((await attach()).publishContext['attachment'], 'pvc-1@node-1')
  })
}

// The contract suite of CSI drivers: the calls of CSI v1, each also repeated as after a lost answer, and the faults that
// tests inject. The simulated driver and the driver process (test/csi/) pass it.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { GrpcError, type GrpcCode } from '../../../wire/grpc/grpc-status.ts'
import type { CsiDriver } from '../csi-driver.ts'
import { controllerService, identityService, nodeService, registrationService } from '../methods.ts'
import type { CallFault } from './call-faults.ts'
import type { CallRecord } from './csi-service.ts'
import type { StorageConfig } from './storage-system.ts'

export interface DriverUnderTest extends AsyncDisposable {
  readonly driver: CsiDriver
  /** The socket of the registration, as a driver. */
  readonly registrar: CsiDriver
  /** A path on the node. */
  pathOf(name: string): string
  /** Writes a file of a mounted volume; without a name, the start of a block volume. */
  write(path: string, name: string, text: string): Promise<void>
  read(path: string, name: string): Promise<string | undefined>
  inject(...faults: readonly CallFault[]): void
  calls(): readonly CallRecord[]
  /** Resolves when a driver that exited runs again. */
  restarted(): Promise<void>
}

export interface UnderTestOptions {
  readonly config?: Partial<StorageConfig>
  readonly topology?: Readonly<Record<string, string>>
  readonly volumesMax?: number
}

const MiB = 1 << 20
const { signal } = new AbortController()
const nodeId = 'node-1'
const mount = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const
const block = { block: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const
const shared = { mount: {}, accessMode: { mode: 'MULTI_NODE_MULTI_WRITER' } } as const

const withCode = (code: GrpcCode) => (error: unknown) => {
  ok(error instanceof GrpcError, String(error))
  equal(error.code, code, error.message)
  return true
}

/** Calls of one volume, in the order in which Kubernetes makes them. */
function volumeOn({ driver, pathOf }: DriverUnderTest, name: string, capability: typeof mount | typeof block = mount) {
  const [stagingTargetPath, targetPath] = [pathOf(`staging/${name}`), pathOf(`target/${name}`)]
  const volumeId = name
  return {
    volumeId,
    stagingTargetPath,
    targetPath,
    create: (more: object = {}) =>
      driver.call(
        controllerService.createVolume,
        { name, volumeCapabilities: [capability], capacityRange: { requiredBytes: 4 * MiB }, ...more },
        signal,
      ),
    attach: () =>
      driver.call(
        controllerService.controllerPublishVolume,
        { volumeId, nodeId, volumeCapability: capability },
        signal,
      ),
    stage: () =>
      driver.call(nodeService.nodeStageVolume, { volumeId, stagingTargetPath, volumeCapability: capability }, signal),
    publish: (more: object = {}) =>
      driver.call(
        nodeService.nodePublishVolume,
        { volumeId, stagingTargetPath, targetPath, volumeCapability: capability, ...more },
        signal,
      ),
    unpublish: () => driver.call(nodeService.nodeUnpublishVolume, { volumeId, targetPath }, signal),
    unstage: () => driver.call(nodeService.nodeUnstageVolume, { volumeId, stagingTargetPath }, signal),
    detach: () => driver.call(controllerService.controllerUnpublishVolume, { volumeId, nodeId }, signal),
    delete: () => driver.call(controllerService.deleteVolume, { volumeId }, signal),
  }
}

type VolumeOn = ReturnType<typeof volumeOn>

async function use(volume: VolumeOn): Promise<void> {
  await volume.attach()
  await volume.stage()
  await volume.publish()
}

async function release(volume: VolumeOn): Promise<void> {
  await volume.unpublish()
  await volume.unstage()
  await volume.detach()
}

export function csiDriverContract(kind: string, start: (options?: UnderTestOptions) => Promise<DriverUnderTest>): void {
  const check = (name: string, run: (under: DriverUnderTest) => Promise<void>, options: UnderTestOptions = {}) => {
    test(`${kind}: ${name}`, async () => {
      await using under = await start(options)
      await run(under)
    })
  }

  check('a driver says what it is and what it can do', async ({ driver, registrar }) => {
    equal((await driver.call(identityService.getPluginInfo, {}, signal)).name, 'csi.coxswain.dev')
    equal((await driver.call(identityService.probe, {}, signal)).ready?.value, true)
    const { capabilities } = await driver.call(identityService.getPluginCapabilities, {}, signal)
    deepEqual(
      capabilities.map(({ service, volumeExpansion }) => service?.type ?? volumeExpansion?.type),
      ['CONTROLLER_SERVICE', 'ONLINE'],
    )
    const controller = await driver.call(controllerService.controllerGetCapabilities, {}, signal)
    ok(controller.capabilities.some(({ rpc }) => rpc?.type === 'PUBLISH_UNPUBLISH_VOLUME'))
    const node = await driver.call(nodeService.nodeGetCapabilities, {}, signal)
    equal(node.capabilities[0]?.rpc?.type, 'STAGE_UNSTAGE_VOLUME')
    const info = await registrar.call(registrationService.getInfo, {}, signal)
    deepEqual([info.type, info.name, info.supportedVersions], ['CSIPlugin', 'csi.coxswain.dev', ['1.0.0']])
    await registrar.call(registrationService.notifyRegistrationStatus, { pluginRegistered: true }, signal)
  })

  check(
    'a node has an id, a limit and a topology',
    async ({ driver }) => {
      const info = await driver.call(nodeService.nodeGetInfo, {}, signal)
      deepEqual(
        [info.nodeId, info.maxVolumesPerNode, { ...info.accessibleTopology?.segments }],
        [nodeId, 2, { zone: 'a' }],
      )
      const { capabilities } = await driver.call(identityService.getPluginCapabilities, {}, signal)
      ok(capabilities.some(({ service }) => service?.type === 'VOLUME_ACCESSIBILITY_CONSTRAINTS'))
    },
    { topology: { zone: 'a' }, volumesMax: 2 },
  )

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
      const [one, two] = [volumeOn(under, 'one'), volumeOn(under, 'two')]
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

  check('a snapshot and a clone have the data of their source', async (under) => {
    const { driver } = under
    const source = volumeOn(under, 'source')
    await source.create()
    await use(source)
    await under.write(source.targetPath, 'file', 'old')
    const snapshotOf = (sourceVolumeId: string) =>
      driver.call(controllerService.createSnapshot, { name: 'snap', sourceVolumeId }, signal)
    const { snapshot } = await snapshotOf('source')
    deepEqual([snapshot?.snapshotId, snapshot?.sizeBytes, snapshot?.readyToUse], ['snap', 4 * MiB, true])
    deepEqual((await snapshotOf('source')).snapshot, snapshot)
    await rejects(snapshotOf('other'), withCode('ALREADY_EXISTS'))
    await under.write(source.targetPath, 'file', 'new')
    const restored = volumeOn(under, 'restored')
    await restored.create({ volumeContentSource: { snapshot: { snapshotId: 'snap' } } })
    const clone = volumeOn(under, 'clone')
    await clone.create({ volumeContentSource: { volume: { volumeId: 'source' } } })
    await rejects(
      volumeOn(under, 'small').create({
        capacityRange: { requiredBytes: 2 * MiB },
        volumeContentSource: { snapshot: { snapshotId: 'snap' } },
      }),
      withCode('OUT_OF_RANGE'),
    )
    for (const [volume, text] of [
      [restored, 'old'],
      [clone, 'new'],
    ] as const) {
      await use(volume)
      equal(await under.read(volume.targetPath, 'file'), text)
      await release(volume)
    }
    const list = async (filter: object) => {
      const { entries } = await driver.call(controllerService.listSnapshots, filter, signal)
      return entries.length
    }
    deepEqual([await list({}), await list({ snapshotId: 'x' }), await list({ sourceVolumeId: 'source' })], [1, 0, 1])
    for (const _ of [1, 2]) await driver.call(controllerService.deleteSnapshot, { snapshotId: 'snap' }, signal)
    equal(await list({}), 0)
    await rejects(
      volumeOn(under, 'late').create({ volumeContentSource: { snapshot: { snapshotId: 'snap' } } }),
      withCode('NOT_FOUND'),
    )
    await release(source)
  })

  check('a filesystem in a file is copied by a snapshot while it is in use', async (under) => {
    const parameters = { backing: 'file' }
    const source = volumeOn(under, 'source')
    await source.create({ parameters })
    await use(source)
    await under.write(source.targetPath, 'file', 'text')
    await under.driver.call(controllerService.createSnapshot, { name: 'snap', sourceVolumeId: 'source' }, signal)
    const restored = volumeOn(under, 'restored')
    await restored.create({ parameters, volumeContentSource: { snapshot: { snapshotId: 'snap' } } })
    await use(restored)
    equal(await under.read(restored.targetPath, 'file'), 'text')
    for (const volume of [source, restored]) await release(volume)
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

  check('a test makes calls fail', async (under) => {
    const { driver, inject } = under
    const volume = volumeOn(under, 'pvc-1')
    const action = { kind: 'fail', code: 'RESOURCE_EXHAUSTED', message: 'full' } as const
    inject({ method: 'CreateVolume', when: 'before', action, times: 1 })
    await rejects(volume.create(), withCode('RESOURCE_EXHAUSTED'))
    equal((await driver.call(controllerService.listVolumes, {}, signal)).entries.length, 0)
    inject({ method: 'CreateVolume', when: 'after', action, times: 1 })
    await rejects(volume.create(), withCode('RESOURCE_EXHAUSTED'))
    equal((await driver.call(controllerService.listVolumes, {}, signal)).entries.length, 1)
    await volume.create()
    deepEqual(
      under.calls().map(({ method, code }) => `${method} ${code}`),
      [
        'CreateVolume RESOURCE_EXHAUSTED',
        'ListVolumes OK',
        'CreateVolume RESOURCE_EXHAUSTED',
        'ListVolumes OK',
        'CreateVolume OK',
      ],
    )
  })

  check('a test makes calls hang until they are cancelled, and other calls are answered meanwhile', async (under) => {
    under.inject({ method: 'CreateVolume', when: 'before', action: { kind: 'hang' }, times: 1 })
    const cancelled = new AbortController()
    const call = under.driver.call(
      controllerService.createVolume,
      { name: 'pvc-1', volumeCapabilities: [mount] },
      cancelled.signal,
    )
    await under.driver.call(identityService.probe, {}, signal)
    cancelled.abort(new Error('cancelled by the test'))
    await rejects(call, /cancelled by the test/)
    await volumeOn(under, 'pvc-1').create()
  })

  check('a test makes calls answer late', async (under) => {
    under.inject({ method: '*', when: 'after', action: { kind: 'delay', ms: 20 }, times: 1 })
    equal((await volumeOn(under, 'pvc-1').create()).volume?.volumeId, 'pvc-1')
  })

  for (const [when, volumes] of [
    ['before', 0],
    ['after', 1],
  ] as const)
    check(`a driver that exits ${when} a call keeps its records`, async (under) => {
      const volume = volumeOn(under, 'pvc-1')
      under.inject({ method: 'CreateVolume', when, action: { kind: 'exit' }, times: 1 })
      await rejects(volume.create(), withCode('UNAVAILABLE'))
      await under.restarted()
      equal((await under.driver.call(controllerService.listVolumes, {}, signal)).entries.length, volumes)
      await volume.create()
      await use(volume)
      await release(volume)
      await volume.delete()
    })

  check('a closed driver is not called', async ({ driver }) => {
    driver.close()
    await rejects(driver.call(identityService.probe, {}, signal))
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

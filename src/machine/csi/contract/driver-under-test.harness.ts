// DriverUnderTest: what the contract needs of a CSI driver, and the calls of one volume on it.
import { equal, ok } from 'node:assert/strict'
import { GrpcError, type GrpcCode } from '../../../wire/grpc/grpc-status.ts'
import type { CsiDriver } from '../csi-driver.ts'
import { controllerService, nodeService } from '../methods.ts'
import type { CallFault } from '../simulated/call-faults.ts'
import type { CallRecord } from '../simulated/csi-service.ts'
import type { StorageConfig } from '../simulated/storage-system.ts'

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

export const MiB = 1 << 20
export const { signal } = new AbortController()
export const nodeId = 'node-1'
export const mount = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const
export const block = { block: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const
export const shared = { mount: {}, accessMode: { mode: 'MULTI_NODE_MULTI_WRITER' } } as const

export const withCode = (code: GrpcCode) => (error: unknown) => {
  ok(error instanceof GrpcError, String(error))
  equal(error.code, code, error.message)
  return true
}

/** Calls of one volume, in the order in which Kubernetes makes them. */
export function volumeOn(
  { driver, pathOf }: DriverUnderTest,
  name: string,
  capability: typeof mount | typeof block = mount,
) {
  const stagingTargetPath = pathOf(`staging/${name}`)
  const targetPath = pathOf(`target/${name}`)
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

export type VolumeOn = ReturnType<typeof volumeOn>

export async function use(volume: VolumeOn): Promise<void> {
  await volume.attach()
  await volume.stage()
  await volume.publish()
}

export async function release(volume: VolumeOn): Promise<void> {
  await volume.unpublish()
  await volume.unstage()
  await volume.detach()
}

/** Defines a test with a driver of its own. */
export type Check = (name: string, run: (under: DriverUnderTest) => Promise<void>, options?: UnderTestOptions) => void

// Staging: a volume is staged once per node, before it is published for pods.
import type { Context } from '../../../base/observability/context.ts'
import { nodeService } from '../../../machine/csi/methods.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import type { VolumeSources } from '../contract/volume-type.ts'
import { volumeCapability, type NodeCapabilities } from './capability.ts'
import { CsiCallError, type CsiCalls } from './csi-calls.ts'
import type { CsiPaths } from './csi-paths.ts'
import { csiSecrets } from './csi-secrets.ts'
import type { CsiState, Staged } from './csi-state.ts'
import { uniqueName, type CsiVolume } from './csi-volume.ts'
import { stagedData, writeVolumeData } from './volume-data.ts'

export interface StagingDeps {
  readonly disk: Disk
  readonly sources: VolumeSources
  readonly calls: CsiCalls
  readonly state: CsiState
}

export interface StagingInput {
  readonly volume: CsiVolume
  readonly paths: CsiPaths
  readonly capabilities: NodeCapabilities
  readonly publishContext: Readonly<Record<string, string>>
  readonly needsAttachment: boolean
  /** The pod's fsGroup. */
  readonly group: number | undefined
}

export const stagesVolumes = (capabilities: NodeCapabilities): boolean => capabilities.has('STAGE_UNSTAGE_VOLUME')

const clientOf = ({ isBlock }: Pick<CsiVolume, 'isBlock'>): string =>
  isBlock
    ? 'blockMapper.SetUpDevice failed to get CSI client'
    : 'attacher.MountDevice failed to create newCsiDriverClient'

/** The volume is also recorded if the driver does not stage volumes, because it is attached until it is released. */
export async function stage(deps: StagingDeps, input: StagingInput, context: Context): Promise<void> {
  const { disk, sources, calls, state } = deps
  const { volume, paths, capabilities, needsAttachment } = input
  const { driver, handle, specName, isBlock } = volume
  const { staging, stagingData } = paths
  const record: Staged = {
    driver,
    handle,
    specName,
    isBlock,
    staging,
    stagingData,
    isCertain: false,
    needsAttachment,
  }
  const secrets = await csiSecrets(sources, volume.stageSecret, 'NodeStageSecretRef', context)
  state.setStaged(record)
  await writeVolumeData(disk, stagingData, stagedData(volume))
  await disk.makeDirectory(staging, 0o750)
  if (stagesVolumes(capabilities)) {
    const request = {
      volumeId: handle,
      publishContext: input.publishContext,
      stagingTargetPath: staging,
      volumeCapability: volumeCapability(volume, capabilities, input.group),
      secrets,
      volumeContext: volume.attributes,
    }
    try {
      await calls.call(driver, clientOf(volume), nodeService.nodeStageVolume, request, context)
    } catch (error) {
      if (error instanceof CsiCallError && error.isFinal && state.publicationsOfVolume(uniqueName(volume)).length === 0)
        await removeStaging(deps, record).catch(() => {})
      throw error
    }
  }
  state.setStaged({ ...record, isCertain: true })
}

/** Releases a staged volume; the caller ensures that nothing uses it. */
export async function unstage(
  deps: Pick<StagingDeps, 'disk' | 'calls' | 'state'>,
  staged: Staged,
  context: Context,
): Promise<void> {
  const { calls } = deps
  const { driver, handle, staging } = staged
  const client = 'attacher.UnmountDevice failed to create newCsiDriverClient'
  if (stagesVolumes(await calls.capabilities(driver, client, context.signal)))
    await calls.call(
      driver,
      client,
      nodeService.nodeUnstageVolume,
      { volumeId: handle, stagingTargetPath: staging },
      context,
    )
  await removeStaging(deps, staged)
}

/** The record is removed last: a kubelet that ends in between releases the volume again. */
async function removeStaging(
  { disk, state }: Pick<StagingDeps, 'disk' | 'state'>,
  { staging, stagingData, isBlock, ...identity }: Staged,
): Promise<void> {
  await disk.remove(staging)
  // The directory of a block volume contains that of its data.
  await disk.remove(isBlock ? stagingData.slice(0, stagingData.lastIndexOf('/')) : stagingData)
  state.deleteStaged(uniqueName(identity))
}

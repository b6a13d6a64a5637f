// Publishing: a volume is mounted at a path of each pod that uses it.
import type { Context } from '../../../base/observability/context.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { CSIDriverSpec } from '../../../api/storage/v1/csi-driver.ts'
import { nodeService } from '../../../machine/csi/methods.ts'
import type { AccountToken } from '../contract/volume-type.ts'
import { volumeCapability, type NodeCapabilities } from './capability.ts'
import { CsiCallError } from './csi-calls.ts'
import type { CsiPaths } from './csi-paths.ts'
import { csiSecrets } from './csi-secrets.ts'
import type { Publication } from './csi-state.ts'
import type { CsiVolume } from './csi-volume.ts'
import { stagesVolumes, type StagingDeps } from './staging.ts'
import { tokenAttributes, volumeContext } from './volume-context.ts'
import { publishedData, writeVolumeData } from './volume-data.ts'

export interface PublishingDeps extends StagingDeps {
  readonly nodeName: string
  readonly sha256: (text: string) => string
}

export interface PublishingInput {
  readonly pod: Pod
  readonly volume: CsiVolume
  /** The name of the volume in the pod. */
  readonly volumeName: string
  readonly paths: CsiPaths
  readonly capabilities: NodeCapabilities
  readonly publishContext: Readonly<Record<string, string>>
  /** Undefined when the driver has no CSIDriver object. */
  readonly spec: CSIDriverSpec | undefined
  readonly group: number | undefined
}

/** The default of the TokenRequest API. */
const tokenSeconds = 3_600
const getClient = 'mounter.SetUpAt failed to get CSI client'
const getUnmountClient = 'Unmounter.TearDownAt failed to get CSI client'

export async function publish(deps: PublishingDeps, input: PublishingInput, context: Context): Promise<void> {
  const { disk, sources, calls, state, nodeName, sha256 } = deps
  const { pod, volume, paths, capabilities, spec } = input
  const { driver, handle, specName, isBlock, lifecycle } = volume
  const { target, targetData } = paths
  const podUid = pod.metadata.uid
  const known = state.findPublication(podUid, specName)
  const record: Publication = {
    driver,
    handle,
    specName,
    isBlock,
    target,
    targetData,
    podUid,
    volumeName: input.volumeName,
    isCertain: false,
  }
  const secrets = await csiSecrets(sources, volume.publishSecret, 'NodePublishSecretRef', context)
  const tokens = tokenAttributes(await accountTokens(deps, input, context))
  const inSecrets = spec?.serviceAccountTokenInSecrets === true
  if (known?.isCertain !== true) {
    state.setPublication(record)
    await writeVolumeData(disk, targetData, publishedData(volume, nodeName, sha256))
    await disk.makeDirectory(target.slice(0, target.lastIndexOf('/')), 0o750)
  }
  const request = {
    volumeId: handle,
    publishContext: input.publishContext,
    stagingTargetPath: lifecycle === 'Persistent' && stagesVolumes(capabilities) ? paths.staging : '',
    targetPath: target,
    volumeCapability: volumeCapability(volume, capabilities, input.group),
    readonly: volume.readOnly,
    secrets: { ...secrets, ...(inSecrets ? tokens : {}) },
    volumeContext: { ...volumeContext(volume, pod, spec), ...(inSecrets ? {} : tokens) },
  }
  try {
    await calls.call(driver, getClient, nodeService.nodePublishVolume, request, context)
  } catch (error) {
    // A volume that was published before stays published when a repetition fails.
    if (known?.isCertain !== true && error instanceof CsiCallError && error.isFinal)
      await removePublication(deps, record).catch(() => {})
    throw error
  }
  state.setPublication({ ...record, isCertain: known?.isCertain ?? false })
}

async function accountTokens(
  { sources }: PublishingDeps,
  { pod, spec }: PublishingInput,
  context: Context,
): Promise<ReadonlyMap<string, AccountToken>> {
  const tokens = new Map<string, AccountToken>()
  for (const { audience, expirationSeconds = tokenSeconds } of spec?.tokenRequests ?? [])
    tokens.set(audience, await sources.accountToken(pod, audience || undefined, Number(expirationSeconds), context))
  return tokens
}

export async function unpublish(
  deps: Pick<PublishingDeps, 'disk' | 'calls' | 'state'>,
  publication: Publication,
  context: Context,
): Promise<void> {
  const { driver, handle, target } = publication
  const request = { volumeId: handle, targetPath: target }
  await deps.calls.call(driver, getUnmountClient, nodeService.nodeUnpublishVolume, request, context)
  await removePublication(deps, publication)
}

/** The record is removed last: a kubelet that ends in between releases the volume again. */
async function removePublication(
  { disk, state }: Pick<PublishingDeps, 'disk' | 'state'>,
  publication: Publication,
): Promise<void> {
  const { target, targetData, isBlock } = publication
  await disk.remove(target)
  if (isBlock && (await disk.list(directoryOf(target))).length === 0) await disk.remove(directoryOf(target))
  await disk.remove(targetData)
  state.deletePublication(publication)
}

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

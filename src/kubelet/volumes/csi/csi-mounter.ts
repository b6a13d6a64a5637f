// CsiMounter: carries out the steps that one volume of one pod needs.
import type { CSIDriverSpec } from '../../../api/storage/v1/csi-driver.ts'
import type { Context } from '../../../base/observability/context.ts'
import { errorText } from '../../../base/observability/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Client } from '../../../client/client.ts'
import type { EventRecorder } from '../../../client/events/event-recorder.ts'
import type { NodePaths } from '../../pod-config/node-paths.ts'
import { applyFsGroup } from '../files/fs-group.ts'
import {
  DeviceError,
  FormattedVolumeError,
  VolumeError,
  type BoundVolume,
  type MountedVolume,
  type PodVolume,
} from '../contract/volume-type.ts'
import { waitForAttachment } from './attachment.ts'
import { changesGroup, type NodeCapabilities } from './capability.ts'
import { csiPaths, type CsiPaths } from './csi-paths.ts'
import { mountSteps, type CsiStep } from './csi-steps.ts'
import { attachmentName, uniqueName, type CsiVolume } from './csi-volume.ts'
import { needsExpansion } from '../persistent/claim-expansion.ts'
import { expand } from './expansion.ts'
import { publish, type PublishingDeps } from './publishing.ts'
import { stage, stagesVolumes } from './staging.ts'
import { lifecycleProblem } from './volume-context.ts'

export interface CsiMounterDeps extends PublishingDeps {
  readonly paths: NodePaths
  readonly client: Client
  readonly events: EventRecorder
  readonly clock: Clock
}

/** Everything that the steps of one mount share. */
interface Mounting {
  readonly volume: CsiVolume
  readonly bound: BoundVolume | undefined
  readonly work: PodVolume
  readonly context: Context
  readonly paths: CsiPaths
  readonly spec: CSIDriverSpec | undefined
  readonly capabilities: NodeCapabilities
  readonly needsAttachment: boolean
  publishContext: Readonly<Record<string, string>>
}

export class CsiMounter {
  readonly #deps: CsiMounterDeps

  constructor(deps: CsiMounterDeps) {
    this.#deps = deps
  }

  /** `bound`: undefined for a volume with the lifetime of its pod. */
  async mount(
    volume: CsiVolume,
    bound: BoundVolume | undefined,
    work: PodVolume,
    context: Context,
  ): Promise<MountedVolume> {
    const { sources, state } = this.#deps
    const paths = csiPaths(this.#deps.paths, work.pod.metadata.uid, volume, this.#deps.sha256)
    const spec = (await sources.csiDriver(volume.driver, context))?.spec
    const grows = bound !== undefined && needsExpansion(bound.volume, bound.claim)
    const publication = state.findPublication(work.pod.metadata.uid, volume.specName)
    const actual = {
      isStaged: state.findStaged(uniqueName(volume))?.isCertain ?? false,
      isPublished: publication?.isCertain ?? false,
    }
    const mounted = { path: paths.target, readOnly: volume.readOnly, ...(volume.isBlock ? { isBlock: true } : {}) }
    const republishes = spec?.requiresRepublish === true
    // Every container start mounts the volumes of its pod; usually nothing is left to do.
    if (actual.isPublished && !republishes && !grows) return mounted
    checkLifecycle(volume, spec)
    const needsAttachment = volume.lifecycle === 'Persistent' && spec?.attachRequired !== false
    state.addUser(uniqueName(volume), work.pod.metadata.uid, needsAttachment)
    const capabilities = await this.#capabilities(volume, context.signal)
    const desired = {
      needsAttachment,
      isPersistent: volume.lifecycle === 'Persistent',
      isStaged: stagesVolumes(capabilities),
      needsExpansion: grows,
      republishes,
    }
    const driver = { spec, capabilities, needsAttachment }
    const mounting: Mounting = { volume, bound, work, context, paths, ...driver, publishContext: {} }
    for (const step of mountSteps(desired, actual)) await this.#perform(step, mounting)
    if (!actual.isPublished) await this.#finish(mounting)
    return mounted
  }

  async #capabilities(volume: CsiVolume, signal: AbortSignal): Promise<NodeCapabilities> {
    const first = volume.lifecycle === 'Persistent' ? 'stage' : 'publish'
    const client =
      first === 'publish'
        ? 'mounter.SetUpAt failed to get CSI client'
        : volume.isBlock
          ? 'blockMapper.SetUpDevice failed to get CSI client'
          : 'attacher.MountDevice failed to create newCsiDriverClient'
    return named(first, volume, () => this.#deps.calls.capabilities(volume.driver, client, signal))
  }

  async #perform(step: CsiStep, mounting: Mounting): Promise<void> {
    const { volume, bound, work, context, paths, capabilities } = mounting
    const { pod } = work
    const group = pod.spec.securityContext?.fsGroup
    switch (step.kind) {
      case 'wait-for-attachment': {
        const id = attachmentName(volume, this.#deps.nodeName, this.#deps.sha256)
        mounting.publishContext = await waitForAttachment(this.#deps, volume, id, context)
        return
      }
      case 'stage':
        return named('stage', volume, () => stage(this.#deps, { ...mounting, group }, context))
      case 'publish':
        if (mounting.needsAttachment && Object.keys(mounting.publishContext).length === 0)
          await this.#readPublishContext(mounting)
        return named('publish', volume, () =>
          publish(this.#deps, { ...mounting, pod, volumeName: work.volume.name, group }, context),
        )
      case 'expand': {
        if (bound === undefined) return
        const stagingPath = stagesVolumes(capabilities) ? paths.staging : ''
        const volumePath = step.at === 'staging' ? paths.staging : paths.target
        const input = { pod, volume, persistentVolume: bound.volume, claim: bound.claim, capabilities }
        const deps = { ...this.#deps, nowMs: () => this.#deps.clock.nowMs() }
        return expand(deps, { ...input, volumePath, stagingPath }, context)
      }
      default:
        return step satisfies never
    }
  }

  /** A volume that is published again needs the context of its attachment, too. */
  async #readPublishContext(mounting: Mounting): Promise<void> {
    const { volume, context } = mounting
    const id = attachmentName(volume, this.#deps.nodeName, this.#deps.sha256)
    const attachment = await this.#deps.sources.volumeAttachment(id, context)
    mounting.publishContext = attachment?.status.attachmentMetadata ?? {}
  }

  /** The group of the files is changed before the volume counts as published. */
  async #finish({ volume, work, context, spec, capabilities, paths }: Mounting): Promise<void> {
    const { state, disk } = this.#deps
    const policy = spec?.fsGroupPolicy ?? 'ReadWriteOnceWithFSType'
    if (changesGroup(volume, policy, capabilities))
      await named('publish', volume, () => applyFsGroup(paths.target, work, disk, context))
    const publication = state.findPublication(work.pod.metadata.uid, volume.specName)
    if (publication !== undefined) state.setPublication({ ...publication, isCertain: true })
  }
}

/** Upstream's names of the failed operation. */
const operations = {
  stage: { mount: 'MountVolume.MountDevice', map: 'MapVolume.SetUpDevice' },
  publish: { mount: 'MountVolume.SetUp', map: 'MapVolume.MapPodDevice' },
} as const

/** Errors of the action name the operation and the volume, as upstream's events do. */
async function named<T>(
  what: keyof typeof operations,
  { specName, isBlock }: CsiVolume,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof VolumeError) || error instanceof FormattedVolumeError) throw error
    const { mount, map } = operations[what]
    const message = `${isBlock ? map : mount} failed for volume ${JSON.stringify(specName)} : ${errorText(error)}`
    throw isBlock ? new DeviceError(message) : new FormattedVolumeError(message)
  }
}

function checkLifecycle(volume: CsiVolume, spec: CSIDriverSpec | undefined): void {
  const problem = lifecycleProblem(volume, spec)
  if (problem === undefined) return
  throw new FormattedVolumeError(
    `MountVolume.NewMounter initialization failed for volume ${JSON.stringify(volume.specName)} : ${problem}`,
  )
}

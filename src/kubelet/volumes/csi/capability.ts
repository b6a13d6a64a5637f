// The capability by which a volume is staged and published: access mode, file system, mount options and group.
import type { nodeStageVolumeRequest } from '../../../machine/csi/messages/node.ts'
import type { ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import type { CsiVolume } from './csi-volume.ts'

export type VolumeCapability = NonNullable<ProtoInput<typeof nodeStageVolumeRequest>['volumeCapability']>
export type NodeCapability =
  | 'EXPAND_VOLUME'
  | 'GET_VOLUME_STATS'
  | 'SINGLE_NODE_MULTI_WRITER'
  | 'STAGE_UNSTAGE_VOLUME'
  | 'VOLUME_CONDITION'
  | 'VOLUME_MOUNT_GROUP'
export type NodeCapabilities = ReadonlySet<string>

/** `group`: the pod's fsGroup, for drivers that apply it themselves. */
export function volumeCapability(
  { isBlock, fsType, mountOptions, accessModes }: CsiVolume,
  capabilities: NodeCapabilities,
  group: number | undefined,
): VolumeCapability {
  const accessMode = { mode: csiAccessMode(accessModes[0] ?? 'ReadWriteOnce', capabilities) }
  if (isBlock) return { block: {}, accessMode }
  const volumeMountGroup = group === undefined || !capabilities.has('VOLUME_MOUNT_GROUP') ? '' : String(group)
  return { mount: { fsType, mountFlags: [...mountOptions], volumeMountGroup }, accessMode }
}

type AccessMode = NonNullable<NonNullable<VolumeCapability['accessMode']>['mode']>

/** As upstream, only the first access mode counts. */
function csiAccessMode(mode: string, capabilities: NodeCapabilities): AccessMode {
  const isFine = capabilities.has('SINGLE_NODE_MULTI_WRITER')
  switch (mode) {
    case 'ReadWriteOnce':
      return isFine ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER'
    case 'ReadWriteOncePod':
      return isFine ? 'SINGLE_NODE_SINGLE_WRITER' : 'SINGLE_NODE_WRITER'
    case 'ReadOnlyMany':
      return 'MULTI_NODE_READER_ONLY'
    case 'ReadWriteMany':
      return 'MULTI_NODE_MULTI_WRITER'
    default:
      return 'UNKNOWN'
  }
}

/** Whether the kubelet changes the group of the volume's files. */
export function changesGroup(
  { readOnly, isBlock, fsType, accessModes, lifecycle }: CsiVolume,
  policy: string,
  capabilities: NodeCapabilities,
): boolean {
  if (isBlock || readOnly || policy === 'None' || capabilities.has('VOLUME_MOUNT_GROUP')) return false
  if (policy === 'File') return true
  const isSingleWriter = accessModes.includes('ReadWriteOnce') || accessModes.includes('ReadWriteOncePod')
  return fsType !== '' && (lifecycle === 'Ephemeral' || isSingleWriter)
}

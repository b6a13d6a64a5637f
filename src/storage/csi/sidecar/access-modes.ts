// Capabilities that a volume needs for the access modes of its claim.
import type { volumeCapability } from '../../../machine/csi/messages/volume.ts'
import type { ProtoInput } from '../../../wire/protobuf/proto-message.ts'

type Capability = ProtoInput<typeof volumeCapability>
type Mode = NonNullable<NonNullable<Capability['accessMode']>['mode']>

export interface CapabilityOptions {
  readonly isBlock: boolean
  readonly fsType: string
  readonly mountFlags: readonly string[]
  /** Whether the driver distinguishes one writer from several on a node. */
  readonly hasMultiWriter: boolean
}

export const capabilityOf = (accessMode: string, options: CapabilityOptions): Capability => ({
  ...(options.isBlock ? { block: {} } : { mount: { fsType: options.fsType, mountFlags: options.mountFlags } }),
  accessMode: { mode: modeOf(accessMode, options.hasMultiWriter) },
})

function modeOf(accessMode: string, hasMultiWriter: boolean): Mode {
  switch (accessMode) {
    case 'ReadWriteMany':
      return 'MULTI_NODE_MULTI_WRITER'
    case 'ReadOnlyMany':
      return 'MULTI_NODE_READER_ONLY'
    case 'ReadWriteOncePod':
      return hasMultiWriter ? 'SINGLE_NODE_SINGLE_WRITER' : 'SINGLE_NODE_WRITER'
    case 'ReadWriteOnce':
      return hasMultiWriter ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER'
    default:
      throw new Error(`unsupported access mode ${accessMode}`)
  }
}

/** The most permissive mode of a volume, which decides how it is attached. */
export function publishedMode(accessModes: readonly string[]): string {
  const order = ['ReadWriteMany', 'ReadWriteOncePod', 'ReadWriteOnce', 'ReadOnlyMany']
  return order.find((mode) => accessModes.includes(mode)) ?? 'ReadWriteOnce'
}

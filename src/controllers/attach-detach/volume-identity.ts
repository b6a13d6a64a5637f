// The names of a CSI volume: its unique name in node statuses, and the name of its VolumeAttachment on a node.
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { Brand } from '../../base/brand.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'

/** `kubernetes.io/csi/<driver>^<handle>`. PersistentVolumes with the same driver and handle are one volume. */
export type VolumeName = Brand<string, 'VolumeName'>

export interface VolumeIdentity {
  readonly driver: string
  readonly handle: string
}

const prefix = 'kubernetes.io/csi/'
const separator = '^'

/** Undefined for volumes of other types, which are not attached. */
export function volumeNameOf({ spec: { csi } }: PersistentVolume): VolumeName | undefined {
  return csi === undefined ? undefined : (`${prefix}${csi.driver}${separator}${csi.volumeHandle}` as VolumeName)
}

/** Undefined if it is not the name of a CSI volume. A handle may contain the separator, a driver's name may not. */
export function identityOf(name: string): VolumeIdentity | undefined {
  const at = name.indexOf(separator)
  if (!name.startsWith(prefix) || at < 0) return undefined
  return { driver: name.slice(prefix.length, at), handle: name.slice(at + separator.length) }
}

/** Kubelets and drivers compute the same name. */
export function attachmentNameOf(
  { driver, handle }: VolumeIdentity,
  nodeName: string,
  crypto: Pick<CryptoProvider, 'sha256'>,
): string {
  return `csi-${crypto.sha256(`${handle}${driver}${nodeName}`).toHex()}`
}

// Recursive read-only mounts: whether a mount and all mounts below it are read-only.
import type { Container } from '../../api/core/v1/container/container.ts'
import { ConfigError } from './config-error.ts'

type VolumeMount = NonNullable<Container['volumeMounts']>[number]

export const requestsRecursiveReadOnly = ({ recursiveReadOnly = 'Disabled' }: VolumeMount): boolean =>
  recursiveReadOnly !== 'Disabled'

/** `isSupported`: whether the runtime supports it. Throws ConfigError when it is required and not supported. */
export function isRecursivelyReadOnly(mount: VolumeMount, isSupported: boolean): boolean {
  if (!requestsRecursiveReadOnly(mount)) return false
  const { name, readOnly = false, mountPropagation = 'None', recursiveReadOnly } = mount
  const configError = (why: string) =>
    new ConfigError(`volume ${JSON.stringify(name)} requested recursive read-only mode, but it is ${why}`)
  if (!readOnly) throw configError('not read-only')
  if (mountPropagation !== 'None')
    throw configError(`not compatible with propagation ${JSON.stringify(mountPropagation)}`)
  if (recursiveReadOnly === 'Enabled' && !isSupported) throw configError('not supported by the runtime')
  return isSupported
}

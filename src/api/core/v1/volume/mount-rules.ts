// Rules of a container's mounts and block devices: each refers to a volume of the pod, and paths are unique.
import { append } from '../../../../base/collections/append.ts'
import {
  forbidden,
  invalid,
  notSupported,
  required,
  notFound,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import type { VolumeDevice, VolumeMount } from '../container/container.ts'
import { hasBacksteps, validateDescendingPath } from '../../../validation/local-path-rules.ts'
import type { Volume } from './volume.ts'

/** The valid volumes of the pod by name. */
export type Volumes = ReadonlyMap<string, Volume>

export interface Mounts {
  readonly mounts: readonly VolumeMount[]
  readonly devices: readonly VolumeDevice[]
  readonly isPrivileged: boolean
}

export function validateMounts(
  { mounts, devices, isPrivileged }: Mounts,
  volumes: Volumes,
  path: string,
): FieldError[] {
  const seen = new Set<string>()
  const deviceNames = new Set(devices.map(({ name }) => name))
  const devicePaths = new Set(devices.map(({ devicePath }) => devicePath))
  return mounts.flatMap((mount: Partial<VolumeMount>, index) => {
    const at = `${path}[${index}]`
    const { name = '', mountPath = '' } = mount
    const errors: FieldError[] = []
    if (name === '') errors.push(required(`${at}.name`))
    if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name))
    if (mountPath === '') errors.push(required(`${at}.mountPath`))
    if (seen.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'))
    seen.add(mountPath)
    if (deviceNames.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'))
    if (devicePaths.has(mountPath))
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'))
    // Upstream omits the index of the mount in the paths of these fields.
    append(errors, validateSubPath(mount, at, path))
    if (mount.mountPropagation === 'Bidirectional' && !isPrivileged)
      errors.push(
        forbidden(
          `${path}.mountPropagation`,
          'Bidirectional mount propagation is available only to privileged containers',
        ),
      )
    return [...errors, ...validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`)]
  })
}

function validateSubPath({ subPath, subPathExpr }: Partial<VolumeMount>, at: string, path: string): FieldError[] {
  const errors = subPath === undefined ? [] : validateDescendingPath(subPath, `${path}.subPath`)
  if (subPathExpr === undefined) return errors
  if (subPath !== undefined)
    errors.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'))
  return [...errors, ...validateDescendingPath(subPathExpr, `${path}.subPathExpr`)]
}

const recursiveModes = ['Disabled', 'Enabled', 'IfPossible']

function validateRecursiveReadOnly(
  { recursiveReadOnly: mode, readOnly, mountPropagation }: Partial<VolumeMount>,
  path: string,
): FieldError[] {
  if (mode === undefined || mode === 'Disabled') return []
  if (!recursiveModes.includes(mode)) return [notSupported(path, mode, recursiveModes)]
  return [
    ...(readOnly ? [] : [forbidden(path, 'may only be specified when readOnly is true')]),
    ...(mountPropagation === undefined || mountPropagation === 'None'
      ? []
      : [forbidden(path, 'may only be specified when mountPropagation is None or not specified')]),
  ]
}

export function validateDevices({ mounts, devices }: Mounts, volumes: Volumes, path: string): FieldError[] {
  const names = new Set<string>()
  const paths = new Set<string>()
  const mountNames = new Set(mounts.map((mount) => mount.name))
  const mountPaths = new Set(mounts.map(({ mountPath }) => mountPath))
  return devices.flatMap(({ name = '', devicePath = '' }: Partial<VolumeDevice>, index) => {
    const at = `${path}[${index}]`
    const volume = volumes.get(name)
    const wrongName = (detail: string) => invalid(`${at}.name`, name, detail)
    const wrongPath = (detail: string) => invalid(`${at}.devicePath`, devicePath, detail)
    const errors: FieldError[] = []
    if (name === '') errors.push(required(`${at}.name`))
    if (names.has(name)) errors.push(wrongName('must be unique'))
    if (volume === undefined) errors.push(notFound(`${at}.name`, name))
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined)
      errors.push(wrongName('can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'))
    if (devicePath === '') errors.push(required(`${at}.devicePath`))
    if (paths.has(devicePath)) errors.push(wrongPath('must be unique'))
    if (hasBacksteps(devicePath)) errors.push(wrongPath("can not contain backsteps ('..')"))
    else paths.add(devicePath)
    if (mountNames.has(name)) errors.push(wrongName('must not already exist in volumeMounts'))
    if (mountPaths.has(devicePath)) errors.push(wrongPath('must not already exist as a path in volumeMounts'))
    if (name !== '') names.add(name)
    return errors
  })
}

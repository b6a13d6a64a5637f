// Rules of volumes whose files come from API objects: config maps, secrets, the pod itself.
import { append } from '../../../../base/collections/append.ts'
import { invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { validateFieldRef, validateResourceFieldRef } from '../container/downward-api-rules.ts'
import { validateDescendingPath, validateFilePath } from '../../../validation/local-path-rules.ts'
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  SecretVolumeSource,
} from './file-volume-sources.ts'
import type { GitRepoVolumeSource } from './in-tree-volume-sources.ts'

const fileModeMax = 0o777

export const validateFileMode = (mode: number | undefined, path: string): FieldError[] =>
  mode !== undefined && (mode < 0 || mode > fileModeMax)
    ? [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
    : []

export const validateConfigMapSource = (
  { name, defaultMode, items = [] }: ConfigMapVolumeSource,
  path: string,
): FieldError[] => [
  ...(name ? [] : [required(`${path}.name`)]),
  ...validateFileMode(defaultMode, `${path}.defaultMode`),
  ...validateKeysToPaths(items, `${path}.items`),
]

export const validateSecretSource = (
  { secretName, defaultMode, items = [] }: SecretVolumeSource,
  path: string,
): FieldError[] => [
  ...(secretName ? [] : [required(`${path}.secretName`)]),
  ...validateFileMode(defaultMode, `${path}.defaultMode`),
  ...validateKeysToPaths(items, `${path}.items`),
]

export const validateKeysToPaths = (items: readonly KeyToPath[], path: string): FieldError[] =>
  items.flatMap(({ key, path: file, mode }, index) => {
    const at = `${path}[${index}]`
    return [
      ...(key ? [] : [required(`${at}.key`)]),
      ...(file ? [] : [required(`${at}.path`)]),
      ...validateFilePath(file ?? '', `${at}.path`),
      ...validateFileMode(mode, `${at}.mode`),
    ]
  })

// Upstream omits the index of a downward API file in the paths of its fields.
export const validateDownwardApiSource = (
  { defaultMode, items = [] }: DownwardAPIVolumeSource,
  path: string,
): FieldError[] => [
  ...validateFileMode(defaultMode, `${path}.defaultMode`),
  ...items.flatMap((file) => validateDownwardFile(file, path)),
]

export function validateDownwardFile(file: DownwardAPIVolumeFile, path: string): FieldError[] {
  const { fieldRef, resourceFieldRef, mode } = file
  const errors = [
    ...(file.path ? [] : [required(`${path}.path`)]),
    ...validateFilePath(file.path ?? '', `${path}.path`),
  ]
  if (fieldRef !== undefined) {
    append(errors, validateFieldRef(fieldRef, 'volume', `${path}.fieldRef`))
    if (resourceFieldRef !== undefined)
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (resourceFieldRef === undefined)
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  else append(errors, validateResourceFieldRef(resourceFieldRef, 'volume', `${path}.resourceFieldRef`))
  return [...errors, ...validateFileMode(mode, `${path}.mode`)]
}

export const validateGitRepo = ({ repository, directory = '' }: GitRepoVolumeSource, path: string): FieldError[] => [
  ...(repository ? [] : [required(`${path}.repository`)]),
  ...validateDescendingPath(directory, `${path}.directory`),
]

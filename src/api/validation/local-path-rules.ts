// Paths inside of a volume: relative, without `..`.
import { invalid, type FieldError } from '../../schema/validation/field-error.ts'

export const hasBacksteps = (value: string): boolean => value.split('/').includes('..')

export const validateNoBacksteps = (value: string, path: string): FieldError[] =>
  hasBacksteps(value) ? [invalid(path, value, "must not contain '..'")] : []

/** A relative path that does not leave its directory. */
export const validateDescendingPath = (value: string, path: string): FieldError[] => [
  ...(value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []),
  ...validateNoBacksteps(value, path),
]

/** A path of a file in a volume; names that begin with two dots are reserved for the kubelet. */
export const validateFilePath = (value: string, path: string): FieldError[] => [
  ...validateDescendingPath(value, path),
  ...(value.startsWith('..') && !value.startsWith('../') ? [invalid(path, value, "must not start with '..'")] : []),
]

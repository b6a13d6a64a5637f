// Paths inside a volume: relative, and never out of it.
import { invalid, type FieldError } from '../../schema/validation/field-error.ts'

export const hasBacksteps = (value: string): boolean => value.split('/').includes('..')

export const validateNoBacksteps = (value: string, path: string): FieldError[] =>
  hasBacksteps(value) ? [invalid(path, value, "must not contain '..'")] : []

/** A path below some directory. */
export const validateDescendingPath = (value: string, path: string): FieldError[] => [
  ...(value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []),
  ...validateNoBacksteps(value, path),
]

/** A path at which a volume keeps a file; names that begin with two dots are the kubelet's own. */
export const validateFilePath = (value: string, path: string): FieldError[] => [
  ...validateDescendingPath(value, path),
  ...(value.startsWith('..') && !value.startsWith('../') ? [invalid(path, value, "must not start with '..'")] : []),
]
